"""One concrete run of a system, to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from tsc.prove.code import compile_system
from tsc.prove.decisions import Decisions
from tsc.prove.machine import Block, If, Loop, System, blocks
from tsc.prove.record import Recording
from tsc.prove.run import Runner, TooLong
from tsc.prove.state import State
from tsc.prove.verdict import Coordinates, Event

_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Small:
    """Answers for a small run: so many tiles and rounds as the numbers allow, and all conditions true."""

    system: System
    tiles: frozenset[int]
    most_tiles: int
    most_rounds: int

    def number(self, number: int, at: Coordinates) -> int:
        """Return a small value of a number."""
        known = self.system.numbers[number]
        wanted = self.most_tiles if number in self.tiles else self.most_rounds
        wanted = wanted if known.hi is None else min(wanted, known.hi)
        return wanted if known.lo is None else max(wanted, known.lo)

    def fact(self, fact: int, at: Coordinates) -> bool:
        """Say that a condition holds."""
        return True


def example(system: System) -> tuple[Event, ...]:
    """Return the events of a run with three tiles of a few rounds, or of so many rounds that each ring goes
    round where there is one tile. Of a long run they are the first.
    """
    code = compile_system(system)
    bounding = frozenset(
        loop.bound.number
        for agent in system.agents
        for loop in _loops(agent.body)
        if loop.tiles and loop.bound.number is not None
    )
    stages = max((ring.stages for ring in system.rings), default=1)
    tiles, rounds = 3, 4 if bounding else min(stages + 3, 24)
    recording = Recording(code)
    runner = Runner(code, Decisions(code, Small(system, bounding, tiles, rounds)), _MOST_STEPS, recording)
    with suppress(TooLong):
        runner.drain(State(code))
    return recording.events


def _loops(block: Block) -> Iterator[Loop]:
    for node in block:
        if isinstance(node, Loop):
            yield node
        if isinstance(node, Loop | If):
            for inner in blocks(node):
                yield from _loops(inner)
