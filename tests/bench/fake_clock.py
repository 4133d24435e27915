"""A clock and contestants without a GPU: a block takes what the contestant says, and time passes by it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class FakeContestant:
    """Takes `seconds` a launch; `cold` more in the replays before the second half of a block."""

    name: str
    seconds: float
    launches: int = 20
    noise: float = 0.0
    replays: int = 0
    draw: random.Random = field(default_factory=lambda: random.Random(7))

    def replay(self) -> None:
        self.replays += 1

    def taken(self, count: int) -> float:
        return self.seconds * self.launches * count * (1 + self.draw.uniform(-self.noise, self.noise))


@dataclass
class FakeClock:
    """Remembers whose block was run, in order."""

    contestants: list[FakeContestant]
    time: float = 0.0
    blocks: list[tuple[str, int, int]] = field(default_factory=list)
    rests: list[float] = field(default_factory=list)

    def block(self, replay: Callable[[], None], uncounted: int, counted: int) -> float:
        (one,) = [it for it in self.contestants if it.replay == replay]
        for _ in range(uncounted + counted):
            replay()
        self.time += one.taken(uncounted)
        seconds = one.taken(counted)
        self.time += seconds
        self.blocks.append((one.name, uncounted, counted))
        return seconds

    def rest(self, seconds: float) -> None:
        self.time += seconds
        self.rests.append(seconds)

    def now(self) -> float:
        return self.time
