"""Bounds: how tight, and that no value lies outside."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import RANGES, environment, expression, value_of
from tsc.expr import Interval, interval, parse

NAMES = {
    "m": Interval(0, 1000),
    "i": Interval(-10, 20),
    "one": Interval(1, 4),
    "down": Interval(-4, -2),
    "any": Interval(),
    "starts": Interval(0, 99),
}
LOWEST, HIGHEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("m * 4 + 3", 3, 4003),
        ("m - i", -20, 1010),
        ("i * down", -80, 40),
        ("-i", -20, 10),
        ("m // 64", 0, 15),
        ("m // one", 0, 1000),
        ("i // down", -10, 5),
        ("m // i", -1000, 1000),
        ("m % 64", 0, 63),
        ("i % 64", 0, 63),
        ("one % 8", 1, 4),
        ("(one + 64) % 64", 1, 4),
        ("i % down", -3, 0),
        ("i % i", -9, 19),
        ("cdiv(m, 64)", 0, 16),
        ("align(m, 64)", 0, 1024),
        ("align(m, one)", 0, 1003),
        ("align(m, down)", -3, 1000),
        ("min(m, 64, i)", -10, 20),
        ("max(m, 64, i)", 64, 1000),
        ("abs(i)", 0, 20),
        ("abs(down)", 2, 4),
        ("starts[m] + 1", 1, 100),
        ("find(starts, m)", 0, 2**31 - 2),
        ("unknown", LOWEST, HIGHEST),
        ("any + 1", LOWEST + 1, HIGHEST),
        ("m < 2000", 1, 1),
        ("i > 20", 0, 0),
        ("i < m", 0, 1),
        ("one != down", 1, 1),
        ("0 <= one < 4", 0, 1),
        ("not one", 0, 0),
        ("one and m >= 0", 1, 1),
        ("i > 100 or m < 0", 0, 0),
        ("m if i < 100 else any", 0, 1000),
        ("i if i > 0 else 0", 0, 20),
        ("m // i if i >= 2 else 0", 0, 500),
        ("any if 0 <= any < 8 else 0", 0, 7),
        ("any if not (any < 0 or any > 7) else 0", 0, 7),
        ("any if not 0 <= any < 8 else 0", LOWEST, HIGHEST),
        ("i if 3 == i else 0", 0, 3),
        ("m if m != 0 else 1", 1, 1000),
    ],
)
def test_bounds(text: str, lo: int, hi: int) -> None:
    assert interval(parse(text), NAMES) == Interval(lo, hi)


def test_the_sentinels_of_no_bound_are_bounds_of_64_bits() -> None:
    assert interval(parse("x"), {"x": Interval(-(2**63), 2**63)}) == Interval()
    assert interval(parse("x + 1"), {"x": Interval(0, 2**63)}) == Interval(1, HIGHEST)


def test_an_interval_is_not_empty() -> None:
    with pytest.raises(ValueError, match="an interval from 3 to 2 is empty"):
        Interval(3, 2)
    assert Interval(0, 3).meet(Interval(4, 5)) is None
    assert Interval(0, 3).meet(Interval(2, 5)) == Interval(2, 3)
    assert Interval(0, 3).hull(Interval(7, 9)) == Interval(0, 9)
    assert 3 in Interval(0, 3) and 4 not in Interval(0, 3)


@given(st.integers(0, 2**40))
def test_no_value_lies_outside(seed: int) -> None:
    rng = Random(seed)
    expr = expression(rng)
    # Parts of the ranges, so that bounds other than those of a type are met.
    ranges = {**RANGES, "i": Interval(-3, 70), "w": Interval(1, 2**33)} if seed % 2 else RANGES
    known = interval(expr, ranges)
    for _ in range(10):
        env = environment(rng, ranges)
        value = value_of(expr, env)
        assert value is None or value in known, (str(expr), env)
