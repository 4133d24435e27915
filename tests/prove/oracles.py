"""Fixed answers: one number for all, or another one at each tile and round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tsc.prove.machine import System
from tsc.prove.verdict import Answer, Coordinates


@dataclass(frozen=True, slots=True)
class Fixed:
    """Answers by chance, the same for the same question; those of `trail` as they were given.

    `trips` and `tiles`: the value of every number but the tiles', and of that; None: by chance.
    """

    system: System
    seed: int
    trips: int | None = None
    tiles: int | None = None
    most: int = 6
    trail: tuple[Answer, ...] = ()

    def number(self, number: int, at: Coordinates) -> int:
        declared = self.system.numbers[number]
        wanted = self.tiles if declared.name == "tiles" else self.trips
        lo = max(0, declared.lo or 0)
        hi = declared.hi
        if wanted is None:
            most = 3 if declared.name == "tiles" else self.most
            wanted = Random(f"{self.seed}/{number}/{at}").randint(0, most)
        for answer in self.trail:
            # What is known before the run holds everywhere.
            where = answer.at[: declared.depth]
            if answer.threshold is None or answer.index != number or where != at[: len(where)]:
                continue
            if answer.value:
                lo = max(lo, answer.threshold + 1)
            else:
                hi = answer.threshold if hi is None else min(hi, answer.threshold)
        wanted = max(wanted, lo)
        return wanted if hi is None else min(wanted, hi)

    def fact(self, fact: int, at: Coordinates) -> bool:
        for answer in self.trail:
            if answer.threshold is None and answer.index == fact and answer.at == at:
                return answer.value
        return Random(f"{self.seed}/fact {fact}/{at}").random() < 0.5


def consistent(system: System, trail: tuple[Answer, ...]) -> bool:
    """Whether numbers and facts can have the values that a trail says, the same at the same coordinates."""
    oracle = Fixed(system, 0, 0, 0, trail=trail)
    for answer in trail:
        if answer.threshold is None:
            if oracle.fact(answer.index, answer.at) != answer.value:
                return False
        else:
            at = answer.at[: system.numbers[answer.index].depth]
            if (oracle.number(answer.index, at) > answer.threshold) != answer.value:
                return False
    return True


def points(system: System, seed: int, rounds: int = 1) -> Iterator[Fixed]:
    """Yield answers: 0 to 6 trips with 0 to 3 tiles, a few larger numbers, and mixtures of all sizes."""
    tiles: tuple[int | None, ...] = (0, 1, 2, 3) if uses_tiles(system) else (1,)
    for trips in range(7):
        for tile in tiles:
            for again in range(rounds if system.facts else 1):
                yield Fixed(system, seed + again, trips, tile)
    # Further than anything is remembered.
    for trips, tile in ((9, 1), (17, 2), (30, 1), (None, 5), (2, 9)):
        yield Fixed(system, seed + 50, trips, tile, most=12)
    for mixture in range(6):
        yield Fixed(system, seed + 100 + mixture, None, None, most=3 if mixture % 2 else 6)


def uses_tiles(system: System) -> bool:
    """Whether the number of tiles is among the numbers."""
    return any(number.name == "tiles" for number in system.numbers)
