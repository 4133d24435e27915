"""The normal form: what is equal, what a sum is made of, what divides it."""

from __future__ import annotations

from math import gcd
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import SMALL, environment, expression, unlimited, value_of
from tsc.expr import Interval, equal, linear, multiple_of, parse, show


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("m + n", "n + m"),
        ("(m + 1) * (n - 1)", "m * n - m + n - 1"),
        ("a * b // b", "a"),
        ("(a * b + c) // b", "a + c // b"),
        ("2 * a // (2 * b)", "a // b"),
        ("(a + b) * 3 // (a + b)", "3"),
        ("a // -b", "-a // b"),
        ("a % b", "a - a // b * b"),
        ("a % 8 + a // 8 * 8", "a"),
        ("a // 2 // 3", "a // 6"),
        ("(a // 2 + 5) // 3", "(a + 10) // 6"),
        ("(2 * a + 1) // 4", "a // 2"),
        ("5 * a // 4", "a + a // 4"),
        ("-a // 4", "-cdiv(a, 4)"),
        ("cdiv(a, b)", "-(-a // b)"),
        ("cdiv(a, 8)", "(a + 7) // 8"),
        ("cdiv(a + 8, 8)", "cdiv(a, 8) + 1"),
        ("align(a, b)", "cdiv(a, b) * b"),
        ("align(a * 64, 64)", "a * 64"),
        ("min(a, b + 0, a + 1)", "min(b, a)"),
        ("max(a, max(b, c))", "max(c, a, b)"),
        ("abs(a - b)", "abs(b - a)"),
        ("x[i + 1 + 1]", "x[2 + i]"),
        ("find(x, i + i)", "find(x, 2 * i)"),
        ("a if i < 3 else b", "b if i > 2 else a"),
        ("a if i < j else a", "a"),
        ("a < b", "b >= a + 1"),
        ("2 * a < 7", "a <= 3"),
        ("a == b", "b - a == 0"),
        ("not (a < b or a == 3)", "a != 3 and b <= a"),
        ("2 * a == 2 * b + 1", "false"),
        ("0 <= a < b", "b > a and a >= 0"),
        ("not a", "a == 0"),
        ("(a < b) + 1", "1 + (b > a)"),
    ],
)
def test_equal(a: str, b: str) -> None:
    assert equal(parse(a), parse(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("m", "n"),
        ("a // 2", "a // 3"),
        ("(a + 1) // 2", "a // 2"),
        ("a // b * b", "a"),
        ("min(a, b)", "max(a, b)"),
        ("a < b", "a <= b"),
        ("a and b", "a or b"),
        ("x[i]", "y[i]"),
        ("3 * a * b // (2 * b)", "a"),
    ],
)
def test_not_surely_equal(a: str, b: str) -> None:
    assert not equal(parse(a), parse(b))


def test_linear() -> None:
    form = linear(parse("loop * 64 + 3 - (tile.m - 2) * BM + n // 4 - n % 4"))
    assert form.constant == 3
    assert {show(term): factor for term, factor in form.terms.items()} == {
        "loop": 64,
        "BM * tile.m": -1,
        "BM": 2,
        "n": -1,
        "n // 4": 5,
    }
    assert linear(parse("3 - 3")).terms == {}


@pytest.mark.parametrize(
    ("text", "divisor"),
    [
        ("n", 16),
        ("n + 8", 8),
        ("n * 3 - 32", 16),
        ("n * m", 64),
        ("n // 4", 4),
        ("n // 32", 1),
        ("n % 24", 8),
        ("align(x, 32)", 32),
        ("align(x, n)", 16),
        ("min(n, 24)", 8),
        ("abs(n) * x", 16),
        ("n if x else 12", 4),
        ("x", 1),
        ("7", 7),
        ("n - n", 0),
    ],
)
def test_multiple_of(text: str, divisor: int) -> None:
    assert multiple_of(parse(text), {"n": 16, "m": 4}) == divisor


def test_remainders_of_remainders_stay_small() -> None:
    # Written out, each level would double what is below it.
    text = "x"
    for at in range(60):
        text = f"({text} % n{at})" if at % 2 else f"({text} // (n{at} + 1))"
    assert equal(parse(text), parse(text))
    wide = "*".join(f"(a{at} + b{at})" for at in range(12))
    assert equal(parse(wide), parse(wide))
    assert linear(parse(wide)).constant == 0


@given(st.integers(0, 2**40))
def test_the_normal_form_has_the_value(seed: int) -> None:
    rng = Random(seed)
    expr = expression(rng, tuple(SMALL), depth=4)
    form = linear(expr)
    for _ in range(6):
        env = environment(rng, SMALL)
        value = value_of(expr, env)
        if value is not None:
            terms = sum(factor * unlimited(term, env) for term, factor in form.terms.items())
            assert form.constant + terms == value, (str(expr), env)


@given(st.integers(0, 2**40))
def test_what_divides_divides(seed: int) -> None:
    rng = Random(seed)
    expr = expression(rng, tuple(SMALL), depth=3)
    known = {name: rng.choice((1, 2, 3, 4, 8)) for name in ("a", "b", "m")}
    ranges = {name: Interval(-5, 5) for name in SMALL} | {"flag": Interval(0, 1)}
    divisor = multiple_of(expr, known)
    for _ in range(6):
        env = environment(rng, ranges)
        env |= {name: env[name] * factor for name, factor in known.items()}
        value = value_of(expr, env)
        assert value is None or gcd(int(value), divisor) == divisor, (str(expr), env)
