"""The array notation: what is read, what is refused, and where."""

from __future__ import annotations

import pytest

from tsc.notation import Binary, Call, Minus, NotationError, Number, Ref, Swapped, names, parse


def test_a_product_of_a_matrix_and_a_transposed_one() -> None:
    tree = parse("a @ b.T + bias")
    assert tree == Binary(
        "+",
        Binary("@", Ref("a", 0, 1), Swapped(Ref("b", 4, 5), "T", 4, 7), 0, 7),
        Ref("bias", 10, 14),
        0,
        14,
    )
    assert [ref.name for ref in names(tree)] == ["a", "b", "bias"]


def test_functions_numbers_and_signs() -> None:
    match parse("where(x >= 0, -x, +2) * 1e-6"):
        case Binary(
            "*",
            Call("where", (Binary(">=", Ref("x"), Number(0.0)), Minus(Ref("x")), Number(2.0))),
            Number(1e-6),
        ):
            return
    pytest.fail("read as something else")


@pytest.mark.parametrize("text", ["mean(x, -1)", "mean(x, axis=-1)", "mean(x)"])
def test_the_last_axis_may_be_written(text: str) -> None:
    match parse(text):
        case Call("mean", (Ref("x"),)):
            return
    pytest.fail("read as something else")


def test_a_text_may_have_several_lines() -> None:
    assert parse("a\n  @ b") == Binary("@", Ref("a", 0, 1), Ref("b", 6, 7), 0, 7)


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("relu(a", "(a", "`(` is not closed", "write `)`"),
        ("a) + (b", ") +", "`)` closes nothing", "remove it"),
        ("a @", "@", "nothing stands to the right of `@`", "second operand"),
        ("relu(a @ b + ) @ c", "+", "nothing stands to the right of `+`", "or remove it"),
        ("a b", "a b", "cannot be read", ""),
        ("a @ b.t", ".t", "`.t` is not part", "`.T` of a matrix"),
        ("a ** 2", "a ** 2", "`**` is not part", "a product"),
        ("a + sqrt(x)", "sqrt", "`sqrt` is not a function", "1 / rsqrt(x)"),
        ("gellu(x)", "gellu", "`gellu` is not a function", "did you mean `gelu`?"),
        ("tril(x)", "tril", "is not a function", "did you mean `causal`?"),
        ("blub(x)", "blub", "is not a function", "the functions are `softmax`, `causal`"),
        ("x.mT(1)", "x.mT", "only a function", "the functions are"),
        ("x + relu", "relu", "`relu` is a function", "relu(x)"),
        ("sum(x, 0)", "0", "`sum` goes over the last axis alone", "sum(x)"),
        ("max(a, b)", "b", "`max` goes over the last axis", "where(a > b, a, b)"),
        ("where(a, b)", "where(a, b)", "`where` takes 3 arguments, not 2", "where(x > 0, x, 0)"),
        ("relu(x, 1)", "relu(x, 1)", "`relu` takes 1 argument, not 2", "relu(x)"),
        ("relu(x, out=x)", "x)", "`relu` has no such argument", "relu(x)"),
        ("x[0]", "x[0]", "no subscripts", "verify.python"),
        ("a if b else c", "a if b else c", "not part of the notation", "`@ + - * /`"),
        ("'a'", "'a'", "not part of the notation", ""),
        ("True", "True", "not part of the notation", ""),
        ("a // b", "a // b", "not part of the notation", ""),
        ("a < b < c", "a < b < c", "not part of the notation", ""),
        ("lambda: a", "lambda: a", "not part of the notation", ""),
        ("__import__('os').system('x')", "__import__('os').system", "only a function", ""),
        ("√x", "√", "(U+221A)", ""),
        ("1e999", "1e999", "larger than any float", ""),
        ("", "", "the reference is empty", "such as"),
    ],
)
def test_what_is_refused_is_shown(text: str, place: str, message: str, help: str) -> None:
    with pytest.raises(NotationError) as found:
        parse(text)
    assert message in found.value.message
    assert help in found.value.help
    start = text.rindex(place)
    assert found.value.start == start
    assert found.value.end <= len(text)


@pytest.mark.parametrize(
    "text", ["(" * 300 + "x" + ")" * 300, "-" * 3000 + "x", "x" + " + x" * 900, "x" * 5000]
)
def test_what_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse(text)
