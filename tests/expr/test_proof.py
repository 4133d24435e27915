"""Conditions decided for all values of their names."""

from __future__ import annotations

from random import Random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expr.generate import SMALL, condition, environment, expression, value_of
from tsc.expr import EvalError, Fact, Interval, build, evaluate, parse, provably

SIZE = Interval(0, 2**31 - 1)
RANGES = {
    **dict.fromkeys(("k", "length", "loop", "m", "n", "row", "tile.m"), SIZE),
    "BM": Interval(1, 256),
    "sign": Interval(-1, 5),
    "x": Interval(),
}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("loop * 4 + 4 <= n", ["loop <= n // 4 - 1"]),
        ("loop * 4 + 4 <= n", ["loop < n // 4"]),
        ("loop * 64 < n", ["loop < cdiv(n, 64)"]),
        ("loop * 64 + min(64, n - loop * 64) <= n", []),
        ("n - loop * 64 > 0", ["loop < cdiv(n, 64)"]),
        ("tile.m * BM + BM <= m", ["tile.m < m // BM"]),
        ("tile.m * BM + min(BM, m - tile.m * BM) <= m", []),
        ("row + 3 < m", ["row < m // 4 * 4", "row % 4 == 0"]),
        ("0 <= n % 8 < 8", []),
        ("n % 8 <= n", []),
        ("n // 8 * 8 <= n", []),
        ("cdiv(n, 8) * 8 >= n", []),
        ("align(n, 8) <= n + 7", []),
        ("align(n, BM) < n + BM", []),
        ("cdiv(n, BM) <= n", []),
        ("m // BM <= m", []),
        ("m * BM >= m", []),
        ("max(m, n) <= k", ["m <= k", "n <= k"]),
        ("min(m, n) + max(m, n) == m + n", []),
        ("abs(x) >= x and abs(x) >= 0", []),
        ("(x if x > 0 else -x) == abs(x)", []),
        ("(m < n) + (n <= m) == 1", []),
        ("x < 5 or x >= 5", []),
        ("2 * x != 7", []),
        ("m >= 0 and BM != 0", []),
        ("m // BM * BM + m % BM == m", []),
        ("(m // BM if BM > 0 else 0) <= m", []),
        ("x // m <= 3", ["x <= 3", "x >= 0"]),
        ("m <= 7 if m < 8 else m >= 8", []),
    ],
)
def test_always(text: str, facts: list[str]) -> None:
    known = [parse(fact) for fact in facts]
    assert provably(parse(text), RANGES, known) is True
    assert provably(parse(f"not ({text})"), RANGES, known) is False


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("loop * 4 + 4 <= n", ["loop < cdiv(n, 4)"]),
        ("loop * 4 + 4 <= n", []),
        ("m <= n", []),
        ("m // x <= m", []),
        ("align(n, 8) == n", []),
        ("x * x >= 1", []),
        ("max(m, n) <= k", ["m <= k"]),
        ("sign >= 1", ["m // sign <= 100"]),
        # A division that is not made says nothing about its divisor.
        ("x != 0", ["(1 // x if x > 0 else 0) >= 0"]),
        ("m != 0", ["m == 0 or 5 // m >= 0"]),
    ],
)
def test_not_known(text: str, facts: list[str]) -> None:
    assert provably(parse(text), RANGES, [parse(fact) for fact in facts]) is None


def test_a_division_that_is_made_has_a_divisor() -> None:
    assert provably(parse("x != 0"), {"x": SIZE}, [parse("5 // x >= 0")]) is True


def test_a_fact_may_be_a_pair() -> None:
    facts = [Fact(parse("loop"), parse("n // 4 - 1")), (parse("0"), parse("loop"))]
    assert provably(parse("loop * 4 + 4 <= n"), {}, facts) is True
    assert provably(parse("loop * 4 + 4 > n"), {}, facts) is False


def test_known_multiples_count() -> None:
    whole = parse("n % 8 == 0")
    assert provably(whole, RANGES, multiples={"n": 16}) is True
    assert provably(whole, RANGES, multiples={"n": 4}) is None
    assert provably(parse("n % 8 == 4"), RANGES, multiples={"n": 16}) is False
    inside, facts = parse("loop * 64 + 64 <= n"), [parse("loop < cdiv(n, 64)")]
    assert provably(inside, RANGES, facts) is None
    assert provably(inside, RANGES, facts, {"n": 128}) is True
    assert provably(parse("n >= 8"), {"n": Interval(3, 100)}, multiples={"n": 8}) is True


@given(st.integers(0, 2**40))
def test_what_is_proven_holds(seed: int) -> None:
    rng = Random(seed)
    names = tuple(SMALL)
    asked = build(condition(rng, names, 3))
    facts = [build(condition(rng, names, 2)) for _ in range(rng.randrange(3))]
    multiples = {name: rng.choice((2, 3, 4)) for name in ("b", "m") if rng.random() < 0.3}
    verdict = provably(asked, SMALL, facts, multiples)
    if verdict is None:
        return
    for _ in range(40):
        env = environment(rng, SMALL)
        env |= {name: env[name] // factor * factor for name, factor in multiples.items()}
        if any(env[name] not in SMALL[name] for name in multiples):
            continue
        if all(value_of(fact, env) for fact in facts):
            value = value_of(asked, env)
            assert value is None or bool(value) is verdict, (str(asked), [str(fact) for fact in facts], env)


@given(st.integers(0, 2**40))
def test_laws_found_at_random_hold(seed: int) -> None:
    rng = Random(seed)
    left, right = (expression(rng, ("a", "b", "m"), depth=2) for _ in range(2))
    offset = rng.randrange(-8, 9)
    asked = parse(f"({left}) * ({rng.randrange(1, 4)}) <= ({right}) + {offset}")
    verdict = provably(asked, SMALL)
    for a in range(-6, 7, 2):
        for b in range(0, 13, 3):
            for m in (-3, -1, 0, 1, 2, 7, 8, 39, 40):
                try:
                    value = evaluate(asked, {"a": a, "b": b, "m": m})
                except EvalError:
                    continue
                assert verdict is None or value is verdict, (str(asked), a, b, m)


def test_hard_questions_are_given_up_in_time() -> None:
    names = [f"n{at}" for at in range(30)]
    text = " + ".join(
        f"max({a}, {b}) * {c} // {a}" for a, b, c in zip(names, names[1:], names[2:], strict=False)
    )
    begin = perf_counter()
    assert provably(parse(f"{text} <= 3"), dict.fromkeys(names, SIZE)) is None
    assert perf_counter() - begin < 5
