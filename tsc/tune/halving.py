"""Early stopping by successive halving: all candidates a little, the better half twice as long, and so on.

A candidate that is within `NOISE` of the last one kept stays as well, so that no rung decides by chance.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NOISE = 0.01
TURNS = 3
FIRST_BLOCK = 0.015
"""Seconds of a block in the first rung; each rung doubles it."""

Measure = Callable[[Sequence[str], float, int], dict[str, list[float]]]
"""Names, seconds a block, turns: seconds a launch in each turn, by name. Who failed is missing."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one candidate: its median at the last rung that it saw."""

    name: str
    seconds: float
    rung: int


def halve(
    names: Sequence[str],
    measure: Measure,
    *,
    keep: int = 2,
    block: float = FIRST_BLOCK,
    turns: int = TURNS,
    spent: Callable[[], bool] = lambda: False,
) -> list[Tried]:
    """The candidates, best first: those of the last rung before those that were put out earlier.

    Ends when `keep` are left, or with the rung in which `spent` says that the time is over.
    """
    left = list(names)
    out: list[Tried] = []
    rung = 0
    while left:
        samples = measure(left, block * 2**rung, turns)
        ranked = sorted(
            (Tried(name, statistics.median(taken), rung) for name, taken in samples.items() if taken),
            key=lambda one: one.seconds,
        )
        half = max(keep, (len(ranked) + 1) // 2)
        if len(ranked) <= keep or spent():
            return ranked + out
        bound = ranked[half - 1].seconds * (1 + NOISE)
        # Noise keeps a few, never everybody: each rung must be smaller than the one before.
        most = max(keep, min(len(ranked) - 1, half + half // 2))
        kept = [one for one in ranked if one.seconds <= bound][:most]
        out = [one for one in ranked if one not in kept] + out
        left = [one.name for one in kept]
        rung += 1
    return out
