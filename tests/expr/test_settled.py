"""Operands that known names decide on stand for themselves, by their names."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import RANGES, environment, expression, value_of
from tsc.expr import Value, evaluate, parse, settle, show

KNOWN: dict[str, Value] = {"BN": 256, "EN": 64, "wide": True}


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("tile.n * BN + min(0, BN - EN)", "tile.n * BN"),
        ("min(2 * EN, BN - EN)", "2 * EN"),
        ("max(min(5 * EN, BN - EN), 1)", "BN - EN"),
        ("x + (EN if wide else BN)", "x + EN"),
        ("EN if BN < EN else tile.m * BN", "tile.m * BN"),
        ("min(EN, x)", "min(EN, x)"),
        ("x if y else EN", "x if y else EN"),
        ("min(BN // 0, EN)", "min(BN // 0, EN)"),
        ("BN * 2 + 0", "BN * 2 + 0"),
    ],
)
def test_what_is_left(text: str, settled: str) -> None:
    assert settle(parse(text), KNOWN) == parse(settled)


@given(st.integers(0, 2**40))
def test_the_value_stays(seed: int) -> None:
    rng = Random(seed)
    expr, env = expression(rng), environment(rng, RANGES)
    known = {name: value for name, value in env.items() if name in RANGES and rng.random() < 0.4}
    settled = settle(expr, known)
    value = value_of(expr, env)
    assert value is None or evaluate(settled, env) == value, (show(expr), show(settled))
