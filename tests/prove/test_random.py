"""The proof against the explorer on random systems of each class; `compare` does it at large."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.prove.compare import compare, compare_fixed, compare_symbolic, fixed_answers
from tests.prove.systems import CLASSES, random_system, systems
from tsc.prove.machine import System

FIXED = 60
SYMBOLIC = 16


def differences(name: str, seeds: range, symbolic: bool) -> dict[int, str]:
    found = {seed: compare(name, seed, symbolic, Counter()) for seed in seeds}
    return {seed: difference for seed, difference in found.items() if difference}


@pytest.mark.parametrize("name", CLASSES)
def test_one_run_says_what_all_runs_do(name: str) -> None:
    assert differences(name, range(FIXED), symbolic=False) == {}


@pytest.mark.parametrize("name", CLASSES)
def test_the_verdict_for_all_answers_holds_for_each(name: str) -> None:
    assert differences(name, range(SYMBOLIC), symbolic=True) == {}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_what_is_right_and_what_is_wrong(name: str) -> None:
    count: Counter[str] = Counter()
    for seed in range(30):
        compare(name, seed, False, count)
    assert count["ok"] >= 5
    assert count["deadlock"] + count["race"] + count["window"] >= 5
    assert count["too big"] <= count["compared"] // 4


def test_a_seed_gives_one_system_for_ever() -> None:
    assert all(random_system(name, 7) == random_system(name, 7) for name in CLASSES)


@pytest.mark.parametrize("name", ["mixed", "history"])
def test_shrinks_to_what_differs(name: str) -> None:
    @settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(systems(name), st.integers(0, 1000))
    def check(system: System, seed: int) -> None:
        for oracle in fixed_answers(system, seed):
            assert compare_fixed(system, oracle, Counter()) == ""
        assert compare_symbolic(system, seed, Counter(), budget=60) == ""

    check()
