"""Shapes of references, with sizes and with names."""

from __future__ import annotations

import pytest

from tsc.notation import ShapeError, Shapes, parse, shape_of

SIZES = {
    "a": (4, 8), "b": (5, 8), "v": (8,), "q": (2, 3, 4), "k": (2, 3, 4), "one": (1, 8), "s": (), "e": (0, 8),
}  # fmt: skip


def sized(text: str) -> tuple[int, ...] | None:
    return shape_of(parse(text), Shapes(SIZES, 1, lambda a, b: a == b))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a @ b.T", (4, 5)),
        ("a @ v", (4,)),
        ("v @ b.T", (5,)),
        ("v @ v", ()),
        ("q @ k.mT", (2, 3, 3)),
        ("softmax(causal(q @ k.mT * s)) @ k", (2, 3, 4)),
        ("a * one", (4, 8)),
        ("one * a", (4, 8)),
        ("a * v + 1", (4, 8)),
        ("mean(a * a, -1)", (4, 1)),
        ("where(a > 0, a, s)", (4, 8)),
        ("-a", (4, 8)),
        ("e @ b.T", (0, 5)),
        ("1", ()),
        ("nobody + a", None),
    ],
)
def test_shape(text: str, shape: tuple[int, ...] | None) -> None:
    assert sized(text) == shape


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("a @ b", "a @ b", "whose inner extents 8 and 5 differ", "second one's dimensions, with `.T`"),
        ("a.T @ b.T", "a.T @ b.T", "whose inner extents 4 and 8 differ", "first one's"),
        ("a + b", "a + b", "`+` joins [4, 8] and [5, 8], whose extents 4 and 5 differ", "equal or 1"),
        ("relu(a + a.T)", "a + a.T", "extents 4 and 8 differ", ""),
        ("v.T", "v.T", "`.T` exchanges two dimensions, and this is [8]", "leave `.T` out"),
        ("q @ k.T", "k.T", "`.T` is of a matrix, and this is [2, 3, 4]", "`.mT`"),
        ("s @ a", "s @ a", "one of these is a number", "`*`"),
        ("sum(s)", "sum(s)", "`sum` goes over the last dimension, and this is a number", ""),
        ("causal(v)", "causal(v)", "`causal` goes over the last two dimensions", ""),
        ("where(a > 0, b, 0)", "where(a > 0, b, 0)", "this joins [4, 8] and [5, 8]", ""),
    ],
)
def test_what_cannot_fit(text: str, place: str, message: str, help: str) -> None:
    with pytest.raises(ShapeError) as found:
        sized(text)
    assert message in found.value.message
    assert help in found.value.help
    assert text[found.value.start : found.value.end] == place


def test_names_that_may_be_equal_are_no_fault() -> None:
    shapes = Shapes({"a": ("m", "k"), "b": ("n", "k")}, "1", lambda a, b: True if a == b else None)
    assert shape_of(parse("a @ b"), shapes) == ("m", "k")
    assert shape_of(parse("a + b"), shapes) == ("m", "k")


def test_every_node_is_seen() -> None:
    shapes = Shapes(SIZES, 1, lambda a, b: a == b)
    shape_of(parse("a @ b.T + 1"), shapes)
    assert sorted(shapes.seen) == [(), (4, 5), (4, 5), (4, 8), (5, 8), (8, 5)]
