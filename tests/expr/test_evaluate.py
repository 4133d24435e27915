"""Values of expressions in Python, and why some have none."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import INT64, RANGES, environment, expression, unlimited, value_of
from tsc.expr import EvalError, evaluate, parse


class Matrix:
    """A tensor as the runtime has them: a shape, and an element for a tuple."""

    shape = (2, 3)

    def __getitem__(self, index: tuple[int, int]) -> int:
        row, column = index
        if row >= 2 or column >= 3:
            raise IndexError
        return 10 * row + column


ENV = {
    "m": 7,
    "n": -7,
    "tile.m": 3,
    "last": True,
    "starts": [0, 3, 3, 8],
    "table": Matrix(),
    "sparse": {(4,): 40},
    "big": INT64 - 1,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n // 2", -4),
        ("n % 2", 1),
        ("m % -4", -1),
        ("cdiv(m, 2)", 4),
        ("cdiv(n, 2)", -3),
        ("cdiv(m, -2)", -3),
        ("align(m, 4)", 8),
        ("align(n, 4)", -4),
        ("align(8, 4)", 8),
        ("min(m, n, 0)", -7),
        ("max(m, n, 0)", 7),
        ("abs(n)", 7),
        ("tile.m * 128", 384),
        ("-m + +n", -14),
        ("0 < tile.m <= 3 != n", True),
        ("3 > tile.m > 1 // 0", False),
        ("not m", False),
        ("m and n", True),
        ("0 or false", False),
        ("true == 1", True),
        ("last + last", 2),
        ("(m > 3) * 8", 8),
        ("m if n < 0 else 1 // 0", 7),
        ("m > 0 or 1 // 0 > 0", True),
        ("m < 0 and 1 // 0 > 0", False),
        ("starts[tile.m] + table[1, 2]", 20),
        ("sparse[4]", 40),
        ("find(starts, 0)", 0),
        ("find(starts, 3)", 2),
        ("find(starts, 7)", 2),
        ("find(starts, 100)", 3),
    ],
)
def test_value(text: str, value: int | bool) -> None:
    got = evaluate(parse(text), ENV)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("1 + tile.n", "tile.n", "`tile.n` is not known here", "did you mean `tile.m`?"),
        ("zebra", "zebra", "`zebra` is not known here", ""),
        ("M + 1", "M", "`M` is not known here", "did you mean `m`?"),
        ("m +  n // (m - 7)", "n // (m - 7)", "`n // (m - 7)` divides by zero", ""),
        ("n % 0", "n % 0", "`n % 0` divides by zero", ""),
        ("cdiv(m, 0)", "cdiv(m, 0)", "`cdiv(m, 0)` divides by zero", ""),
        (
            "1 - (big  *  2)",
            "big  *  2",
            "`big * 2` is 18,446,744,073,709,551,614, which does not fit 64 bits",
            "",
        ),
        (
            "abs(-big - 1)",
            "abs(-big - 1)",
            "`abs(-big - 1)` is 9,223,372,036,854,775,808, which does not fit 64 bits",
            "",
        ),
        (
            "(-big - 1) % -1",
            "(-big - 1) % -1",
            "`(-big - 1) % -1` is 9,223,372,036,854,775,808, which does not fit 64 bits",
            "",
        ),
        (
            "align(big, 2)",
            "align(big, 2)",
            "`align(big, 2)` is 9,223,372,036,854,775,808, which does not fit 64 bits",
            "",
        ),
        ("starts[m]", "starts[m]", "`starts[7]` is out of range", ""),
        ("starts[n]", "starts[n]", "`starts[-7]` is out of range", ""),
        ("starts[-1]", "starts[-1]", "`starts[-1]` is out of range", ""),
        ("sparse[5]", "sparse[5]", "`sparse[5]` is out of range", ""),
        ("table[2, 0]", "table[2, 0]", "`table[2, 0]` is out of range", ""),
        (
            "table[2]",
            "table[2]",
            "`table` has 2 dimensions, the subscript 1",
            "write one subscript a dimension",
        ),
        ("starts[1, 2]", "starts[1, 2]", "`starts[1, 2]` is not an integer", ""),
        ("find(starts, -1)", "find(starts, -1)", "no entry of `starts` is at most -1", ""),
        ("starts + 1", "starts", "`starts` is a tensor", "write `starts[i]`"),
        ("m[0] + 1", "m", "`m` is not a tensor", "write `m` alone"),
    ],
)
def test_no_value(text: str, place: str, message: str, help: str) -> None:
    with pytest.raises(EvalError) as caught:
        evaluate(parse(text), ENV)
    error = caught.value
    assert (text[error.start : error.end], error.message, error.help) == (place, message, help)


@given(st.integers(0, 2**40))
def test_values_are_those_of_python(seed: int) -> None:
    rng = Random(seed)
    expr = expression(rng)
    for _ in range(5):
        env = environment(rng, RANGES)
        value = value_of(expr, env)
        assert value is None or unlimited(expr, env) == value, (str(expr), env)


def test_a_value_beyond_64_bits_is_no_integer_of_the_language() -> None:
    with pytest.raises(EvalError, match="which does not fit 64 bits"):
        evaluate(parse("x"), {"x": INT64})
