"""Times contestants side by side on one GPU: random order, events, medians, buffers rotated over the L2.

A fixed order biases by some percent (clocks and temperature follow whoever ran before), so every turn draws a
new one, and the first launches of each block are not counted.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

Launch = Callable[[int], None]
"""Enqueues one launch on the current stream; the argument chooses the set of buffers."""


@dataclass(slots=True)
class Contestant:
    """Somebody to time: a name and a launch."""

    name: str
    launch: Launch
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds a launch, the median over all turns."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Distance of the quartiles over the median."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / self.median


def race(
    contestants: Sequence[Contestant], sets: int, *, turns: int = 24, launches: int = 10, warm: int = 3
) -> None:
    """Time every contestant in each turn: `warm` launches uncounted, then `launches` between two events."""
    order = list(contestants)
    draw = random.Random(0)
    for contestant in order:
        for i in range(sets):
            contestant.launch(i)
    torch.cuda.synchronize()
    for _ in range(turns):
        draw.shuffle(order)
        for contestant in order:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            for i in range(warm):
                contestant.launch(i % sets)
            begin.record()
            for i in range(launches):
                contestant.launch((warm + i) % sets)
            end.record()
            end.synchronize()
            contestant.seconds.append(begin.elapsed_time(end) / 1e3 / launches)
