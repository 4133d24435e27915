"""Who runs when: contestants in a random order each turn, in blocks of which the second half counts.

A fixed order biases by 3 to 5 %, because clocks and temperature follow whoever ran before; the first half of
a block takes that up. `settled` is a chip under load, `burst` the first launches after a rest.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

BLOCK = 0.15
"""Seconds of one block."""
LOAD = 2.0
"""Seconds under load before the first block that counts."""
REST = 0.4
"""Seconds of rest before a burst."""
LAUNCHES = 20
"""Launches of one graph, unless there are more sets of buffers than that."""
OVER_L2 = 3.2
"""How many times the L2 the sets of buffers are together, so that no launch finds its input there."""


class Contestant(Protocol):
    """Somebody to time."""

    @property
    def name(self) -> str:
        """What it is called in the figures."""

    @property
    def launches(self) -> int:
        """Launches of one replay."""

    def replay(self) -> None:
        """Enqueue the launches."""


class Clock(Protocol):
    """What measures and waits; the tests have one without a GPU."""

    def block(self, replay: Callable[[], None], uncounted: int, counted: int) -> float:
        """Seconds that the counted replays took on the device, enqueued right after the uncounted ones."""

    def rest(self, seconds: float) -> None:
        """Leave the device idle."""

    def now(self) -> float:
        """Seconds from some beginning."""


@dataclass(slots=True)
class Lap:
    """What one contestant has shown: seconds a launch in each turn, and the launches counted."""

    samples: list[float] = field(default_factory=list)
    launches: int = 0


Laps = dict[str, Lap]


def ignore(_: str) -> None:
    """Tell nobody whose turn it is."""


def sets_of(bytes_a_set: int, l2_bytes: int) -> int:
    """How many sets of buffers to rotate over, two at the least."""
    return max(2, math.ceil(OVER_L2 * l2_bytes / max(bytes_a_set, 1)))


def launches_of(sets: int) -> int:
    """Launches of a graph that comes by every set of buffers."""
    return LAUNCHES * math.ceil(sets / LAUNCHES)


def settled(
    contestants: Sequence[Contestant],
    clock: Clock,
    *,
    turns: int = 8,
    block: float = BLOCK,
    load: float = LOAD,
    least: int = 0,
    limit: float = math.inf,
    seed: int = 0,
    at: Callable[[str], None] = ignore,
) -> Laps:
    """Time contestants under load: `turns` blocks each, more until `least` launches of each are counted.

    No turn is begun `limit` seconds after the first one. `at` is told whose block begins, for a watchdog.
    """
    halves = {one.name: _half(one, clock, block, at) for one in contestants}
    draw, order = random.Random(seed), list(contestants)
    laps: Laps = {one.name: Lap() for one in contestants}
    begin = clock.now()
    while clock.now() - begin < load:
        draw.shuffle(order)
        for one in order:
            at(one.name)
            clock.block(one.replay, 0, 2 * halves[one.name])
    begin = clock.now()
    turn = 0
    while turn < turns or min(lap.launches for lap in laps.values()) < least:
        if turn and clock.now() - begin > limit:
            break
        draw.shuffle(order)
        for one in order:
            at(one.name)
            half = halves[one.name]
            seconds = clock.block(one.replay, half, half)
            laps[one.name].samples.append(seconds / (half * one.launches))
            laps[one.name].launches += half * one.launches
        turn += 1
    return laps


def burst(
    contestants: Sequence[Contestant],
    clock: Clock,
    *,
    turns: int = 5,
    rest: float = REST,
    seed: int = 0,
    at: Callable[[str], None] = ignore,
) -> Laps:
    """Time one replay of each contestant after a rest, `turns` times in random order."""
    draw, order = random.Random(seed), list(contestants)
    laps: Laps = {one.name: Lap() for one in contestants}
    for _ in range(turns):
        draw.shuffle(order)
        for one in order:
            at(one.name)
            clock.rest(rest)
            laps[one.name].samples.append(clock.block(one.replay, 0, 1) / one.launches)
            laps[one.name].launches += one.launches
    return laps


def _half(one: Contestant, clock: Clock, block: float, at: Callable[[str], None]) -> int:
    """How many replays make half a block."""
    at(one.name)
    seconds = clock.block(one.replay, 1, 1)
    return max(1, math.ceil(block / 2 / max(seconds, 1e-7)))
