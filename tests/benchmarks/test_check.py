"""The schedules that the check is timed with: usual and growing ones are proved, explosive ones end."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from benchmarks import check, schedules
from benchmarks.schedules import Schedule

PROVED = [*schedules.usual(), *(it for it in schedules.growing() if it.size < 100)]
LARGE = [schedules.nest(12), schedules.steps(30), schedules.conditions(30)]


def titles(of: Iterable[Schedule]) -> list[str]:
    return [schedule.title for schedule in of]


def test_titles_are_unique() -> None:
    every = titles([*PROVED, *schedules.explosive()])
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("schedule", PROVED, ids=titles(PROVED))
def test_is_proved(schedule: Schedule) -> None:
    row = check.measured(schedule, times=1)
    assert row.verdict == "proved"
    assert row.megabytes < 100


@pytest.mark.parametrize("schedule", LARGE, ids=titles(LARGE))
def test_ends_within_its_budget(schedule: Schedule) -> None:
    row = check.measured(schedule, times=1, budget=100)
    assert row.states <= 100
    assert row.verdict in ("proved", "unproven", "paths-not-followed")


def test_out_of_budget_is_not_proved() -> None:
    row = check.measured(schedules.hub(3), times=1, budget=20)
    assert (row.verdict, row.states) == ("unproven", 20)


def test_growth_is_the_power_of_the_size() -> None:
    rows = [check.Row("", "s", n, 1, 1, 1, "proved", 1.0, float(n**3), 1.0, 1.0) for n in (2, 4, 8)]
    assert check.growth(rows) == {"s": pytest.approx(3.0)}
