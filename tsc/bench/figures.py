"""From seconds a launch, one number a turn, to what is printed: medians, spreads, errors and ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# The standard error of a median of normal samples, over that of their mean.
_MEDIAN = math.sqrt(math.pi / 2)


@dataclass(frozen=True, slots=True)
class Figure:
    """How long one contestant takes."""

    seconds: float
    """a launch, the median over the turns"""
    spread: float
    """distance of the quartiles over the median"""
    error: float
    """standard error of the median over the median; 0 where there is one turn"""
    turns: int
    launches: int
    """counted, in all turns"""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast one contestant is: the other's time over its own."""

    value: float
    error: float
    """its standard error, from the ratios of the single turns"""


def figure(samples: Sequence[float], launches: int) -> Figure:
    """The figure of one contestant, from seconds a launch in each turn. Raises ValueError without samples."""
    if not samples:
        raise ValueError("nothing was measured")
    middle = statistics.median(samples)
    return Figure(middle, _spread(samples, middle), _error(samples) / middle, len(samples), launches)


def ratio(others: Sequence[float], ours: Sequence[float]) -> Ratio:
    """The ratio of two contestants that had the same turns, turn by turn in order."""
    turns = [other / own for other, own in zip(others, ours, strict=True)]
    return Ratio(statistics.median(others) / statistics.median(ours), _error(turns))


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean of ratios, 1 for none."""
    logs = [math.log(one) for one in ratios]
    return math.exp(statistics.fmean(logs)) if logs else 1.0


def _error(samples: Sequence[float]) -> float:
    if len(samples) < 2:
        return 0.0
    return _MEDIAN * statistics.stdev(samples) / math.sqrt(len(samples))


def _spread(samples: Sequence[float], middle: float) -> float:
    if len(samples) < 2:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4)
    return (high - low) / middle
