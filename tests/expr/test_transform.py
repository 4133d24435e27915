"""Names replaced, and known parts computed."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import RANGES, TENSORS, environment, expression, value_of
from tsc.expr import ExprError, Name, Value, evaluate, fold, parse, show, substitute

KNOWN: dict[str, Value] = {"BM": 128, "BK": 64, "flag": True, "starts": [0, 4, 9]}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("tile.m * BM", "tile.m * 128"),
        ("tile.m * (BM // 2) + BK", "tile.m * 64 + 64"),
        ("x + BM - BK - 64", "x"),
        ("x + 3 - 5", "x - 2"),
        ("3 + x + 4", "x + 7"),
        ("x - 3 - 4", "x - 7"),
        ("x + 0 * y", "x"),
        ("1 * x * 2 * 3", "x * 6"),
        ("x * BM // BK", "x * 2"),
        ("x * BM // 128", "x"),
        ("x * BM % BK", "0"),
        ("x * 3 // 2 + x * 3 % 2", "x * 3 // 2 + x * 3 % 2"),
        ("x // 2 // BK", "x // 128"),
        ("x // -2 // BK", "x // -2 // 64"),
        ("x % 1", "0"),
        ("x - x", "0"),
        ("--x", "x"),
        ("+(x + 1)", "x + 1"),
        ("-(BM - BM)", "0"),
        ("x if BM > BK else y", "x"),
        ("x if y else x", "x"),
        ("y > 0 and BM > BK", "y > 0"),
        ("y and BM > BK", "y != 0"),
        ("y > 0 and BM < BK and z", "false"),
        ("y or flag", "true"),
        ("not not (x < y)", "x < y"),
        ("min(BM, BK, 3) + x", "3 + x"),
        ("starts[2] + starts[x]", "9 + starts[x]"),
        ("find(starts, BK)", "2"),
        ("find(starts, x)", "find(starts, x)"),
        ("BM // 0 + x", "128 // 0 + x"),
        ("(x < y) + 0", "(x < y) + 0"),
        ("x * 4611686018427387904 * 4", "x * 4611686018427387904 * 4"),
        ("x + 9223372036854775807 + 1", "x + 9223372036854775807 + 1"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert show(fold(parse(text), KNOWN)) == folded


def test_what_is_known_is_a_literal() -> None:
    assert fold(parse("cdiv(BM * 3, BK)"), KNOWN).value == 6
    assert fold(parse("BM > BK"), KNOWN).value is True
    assert fold(parse("BM > x"), KNOWN).value is None


@given(st.integers(0, 2**40))
def test_folding_keeps_the_value(seed: int) -> None:
    rng = Random(seed)
    expr, env = expression(rng), environment(rng, RANGES)
    known = {name: value for name, value in env.items() if rng.random() < 0.4}
    folded = fold(expr, known)
    assert not (folded.free - folded.indexed) & known.keys() or value_of(expr, env) is None
    for _ in range(5):
        some = {**environment(rng, RANGES), **known}
        value = value_of(expr, some)
        assert value is None or evaluate(folded, some) == value, (show(folded), some)


@given(st.integers(0, 2**40))
def test_text_written_is_read_the_same(seed: int) -> None:
    expr = expression(Random(seed), depth=6)
    again = parse(show(expr))
    assert again == expr
    assert again.names == expr.names
    assert show(again) == show(expr)


def test_substitute() -> None:
    expr = parse("a * b - x[a]")
    assert show(substitute(expr, {"a": parse("m + 1"), "x": parse("y")})) == "(m + 1) * b - y[m + 1]"
    assert show(substitute(parse("-a - -1"), {"a": parse("3")})) == "-3 - -1"
    assert show(substitute(parse("find(x, a)"), {"x": parse("y"), "a": parse("2")})) == "find(y, 2)"
    assert substitute(expr, {"c": parse("1")}) is expr
    # All at once: what is put in is not replaced again.
    assert show(substitute(parse("a + b"), {"a": parse("b"), "b": parse("a")})) == "b + a"
    assert substitute(expr, {"a": parse("tile.m")}).names[0] == Name("tile.m", 0, 6)


def test_a_tensor_cannot_become_a_formula() -> None:
    with pytest.raises(ExprError) as caught:
        substitute(parse("1 + x[2]"), {"x": parse("a + b")})
    error = caught.value
    assert (error.start, error.end) == (4, 5)
    assert error.message == "`x` is read as a tensor, but stands for a formula"
    with pytest.raises(ExprError, match="`x` is read as a tensor"):
        substitute(parse("find(x, 2)"), {"x": parse("tile.m")})


def test_growth_is_bounded() -> None:
    expr = parse("x + x")
    with pytest.raises(ExprError, match="the expression grows too large once `x` is replaced") as caught:
        for _ in range(40):
            expr = substitute(parse("x * x + x"), {"x": expr})
    assert (caught.value.start, caught.value.end) == (0, 1)
    with pytest.raises(ExprError, match="the expression grows too large"):
        for _ in range(200):
            expr = substitute(parse("-x"), {"x": expr})


@given(st.integers(0, 2**40))
def test_substituting_is_evaluating_in_two_steps(seed: int) -> None:
    rng = Random(seed)
    outer, inner = expression(rng, depth=3), expression(rng, depth=2)
    env = environment(rng, RANGES)
    value = value_of(inner, env)
    if value is not None:
        joined = substitute(outer, {"m": inner})
        assert value_of(joined, env) == value_of(outer, {**env, "m": value})
        assert joined.indexed <= set(TENSORS)
