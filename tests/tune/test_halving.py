"""Successive halving on candidates whose times are known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from tsc.tune.halving import FIRST_BLOCK, halve


class Bench:
    """Gives each candidate its time with noise, and remembers the rungs."""

    def __init__(self, seconds: dict[str, float], noise: float = 0.0, broken: Sequence[str] = ()) -> None:
        self.seconds = seconds
        self.noise = noise
        self.broken = broken
        self.rungs: list[tuple[int, float]] = []
        self.draw = random.Random(5)

    def __call__(self, names: Sequence[str], block: float, turns: int) -> dict[str, list[float]]:
        self.rungs.append((len(names), block))
        return {
            name: [self.seconds[name] * (1 + self.draw.gauss(0, self.noise)) for _ in range(turns)]
            for name in names
            if name not in self.broken
        }


def space(count: int) -> dict[str, float]:
    return {f"c{index}": 1.0 + 0.05 * index for index in range(count)}


def test_the_best_is_first_and_everybody_is_ranked() -> None:
    bench = Bench(space(16))
    ranked = halve(list(reversed(bench.seconds)), bench)
    assert [one.name for one in ranked] == [f"c{index}" for index in range(16)]
    assert [count for count, _ in bench.rungs] == [16, 8, 4, 2]


def test_each_rung_measures_twice_as_long() -> None:
    bench = Bench(space(16))
    halve(list(bench.seconds), bench)
    assert [block for _, block in bench.rungs] == pytest.approx([FIRST_BLOCK * 2**rung for rung in range(4)])


def test_it_costs_far_less_than_measuring_everybody_as_long() -> None:
    bench = Bench(space(64))
    halve(list(bench.seconds), bench)
    spent = sum(count * block for count, block in bench.rungs)
    assert spent < 0.2 * 64 * bench.rungs[-1][1]


def test_close_ones_are_not_put_out_by_chance_but_each_rung_is_smaller() -> None:
    bench = Bench({f"c{index}": 1.0 for index in range(12)})
    ranked = halve(list(bench.seconds), bench)
    counts = [count for count, _ in bench.rungs]
    assert counts[:2] == [12, 9]
    assert all(after < before for before, after in itertools.pairwise(counts))
    assert len(ranked) == 12


def test_noise_smaller_than_the_difference_does_not_matter() -> None:
    for seed in range(20):
        bench = Bench(space(12), noise=0.01)
        bench.draw = random.Random(seed)
        assert halve(list(bench.seconds), bench)[0].name == "c0"


def test_who_fails_is_left_out() -> None:
    ranked = halve(["c0", "c1", "c2"], Bench(space(3), broken=["c0"]))
    assert [one.name for one in ranked] == ["c1", "c2"]


def test_it_ends_when_the_time_is_spent() -> None:
    bench = Bench(space(32))
    ranked = halve(list(bench.seconds), bench, spent=lambda: len(bench.rungs) == 2)
    assert len(bench.rungs) == 2
    assert ranked[0].name == "c0"
    assert len(ranked) == 32


@pytest.mark.parametrize("names", [[], ["c0"], ["c0", "c1"]])
def test_few_candidates_take_one_rung_at_most(names: list[str]) -> None:
    bench = Bench(space(2))
    assert [one.name for one in halve(names, bench)] == names
    assert len(bench.rungs) == bool(names)
