"""Statistics of turns."""

from __future__ import annotations

import math
import random

import pytest

from tsc.bench.figures import figure, geometric_mean, ratio


def test_a_figure_is_a_median_with_its_spread() -> None:
    shown = figure([1.0, 2.0, 3.0, 4.0, 100.0], 500)
    assert (shown.seconds, shown.turns, shown.launches) == (3.0, 5, 500)
    assert shown.spread == pytest.approx((52.0 - 1.5) / 3.0)


def test_one_turn_has_no_error_and_none_is_refused() -> None:
    assert (figure([2.0], 20).error, figure([2.0], 20).spread) == (0.0, 0.0)
    with pytest.raises(ValueError, match="nothing was measured"):
        figure([], 0)


def test_the_error_is_that_of_a_median() -> None:
    draw = random.Random(3)
    medians = [figure([draw.gauss(1.0, 0.02) for _ in range(15)], 1) for _ in range(800)]
    mean = sum(one.seconds for one in medians) / len(medians)
    scatter = math.sqrt(sum((one.seconds - mean) ** 2 for one in medians) / (len(medians) - 1))
    told = sum(one.error for one in medians) / len(medians)
    assert told == pytest.approx(scatter, rel=0.15)


def test_a_ratio_is_the_others_time_over_ours_and_drift_of_both_is_no_error() -> None:
    ours = [1.0, 1.1, 1.2, 1.3]
    found = ratio([2 * one for one in ours], ours)
    assert found.value == pytest.approx(2.0)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert ratio([1.0, 1.2], [1.0, 1.0]).error > 0.1


def test_ratios_of_unequal_turns_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratio([1.0, 2.0], [1.0])


def test_geometric_mean() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert geometric_mean([1.1, 1.1]) == pytest.approx(1.1)
    assert geometric_mean([]) == 1.0
