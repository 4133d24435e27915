"""A state of a run: where every agent stands, how far every barrier is, what is decided, who knows what."""

from __future__ import annotations

from dataclasses import dataclass

from tsc.prove.code import Code
from tsc.prove.questions import Line, Points
from tsc.prove.verdict import OUTSIDE, Answer

NumberKey = tuple[int, Points, int]
"""Number, coordinates, stream of answers."""

FactKey = tuple[int, Points]

Trail = tuple["Trail | None", Answer]
"""The answers on the way to a state, the last one first."""

Range = tuple[int | None, int | None]
"""What is known of a number: at least, at most."""


@dataclass(slots=True)
class Group:
    """One group in an engine's queue: the facts that its end proves, and arrivals that came before it."""

    facts: int
    proof: int


@dataclass(slots=True)
class Queue:
    """An in-order engine: its groups that are not proved done, oldest first.

    `past` is that of its last arrival, `proof` what its arrivals since the last group prove.
    """

    groups: list[Group]
    past: int = 0
    proof: int = 0

    def copy(self) -> Queue:
        """Return a copy."""
        return Queue([Group(g.facts, g.proof) for g in self.groups], self.past, self.proof)


Frame = tuple[Line | None, int, int, int]
"""A loop that an agent is in: line, stream of answers, value, round (as far as rounds are told apart)."""

OUTER: Frame = (None, 0, OUTSIDE, 0)
"""In place of the loop over the tiles, outside of it."""


class State:
    """Mutable; barriers' stages are numbered through (`flat`)."""

    __slots__ = (
        "at",
        "came",
        "current",
        "cursors",
        "done",
        "facts",
        "filled",
        "frames",
        "got",
        "known",
        "landing",
        "last",
        "numbers",
        "queues",
        "streams",
        "trail",
        "written",
    )

    def __init__(self, code: Code) -> None:
        agents, flats = code.agents, code.layout.flats
        everything = (1 << code.layout.bits) - 1
        self.at = [0] * len(agents)
        self.frames: list[list[Frame]] = [[OUTER] for _ in agents]
        self.cursors = [[cursor.start for cursor in one.agent.cursors] for one in agents]
        # What has not happened is known to all.
        self.known = [everything] * len(agents)
        self.queues = [[Queue([]) for _ in one.agent.engines] for one in agents]
        self.streams: list[dict[tuple[int, Points], int]] = [{} for _ in agents]
        self.done = [0] * flats  # phases that are over
        self.got = [0] * flats  # weight arrived in the current phase
        self.came = [0] * flats  # columns that arrived in the current phase
        self.current = [0] * flats  # joined past of the arrivals in the current phase
        self.landing = [0] * flats  # joined past of the loads that it waits for, and what they wrote
        self.last = [0] * flats  # of the last phase that is over
        self.numbers: dict[NumberKey, Range] = {}
        self.facts: dict[FactKey, bool] = {}
        self.written = 0
        for segment in code.system.written:
            self.written |= 1 << segment
        self.filled = everything  # of what fills bring: what has not been cleared since it was written
        self.trail: Trail | None = None

    def copy(self) -> State:
        """Return a copy that shares nothing mutable."""
        new = State.__new__(State)
        new.at = self.at[:]
        new.frames = [frames[:] for frames in self.frames]
        new.cursors = [cursors[:] for cursors in self.cursors]
        new.known = self.known[:]
        new.queues = [[queue.copy() for queue in queues] for queues in self.queues]
        new.streams = [dict(streams) for streams in self.streams]
        new.done, new.got, new.came = self.done[:], self.got[:], self.came[:]
        new.current, new.landing, new.last = self.current[:], self.landing[:], self.last[:]
        new.numbers, new.facts = dict(self.numbers), dict(self.facts)
        new.written, new.filled, new.trail = self.written, self.filled, self.trail
        return new

    def forget(self, bits: int) -> None:
        """Take facts from everybody: what they were about has happened anew."""
        keep = ~bits
        self.known = [mask & keep for mask in self.known]
        self.current = [mask and mask & keep for mask in self.current]
        self.landing = [mask and mask & keep for mask in self.landing]
        self.last = [mask & keep for mask in self.last]
        for queues in self.queues:
            for queue in queues:
                queue.past &= keep
                queue.proof &= keep
                for group in queue.groups:
                    group.facts &= keep
                    group.proof &= keep

    def shift(self, first: int, ages: int, orders: int) -> None:
        """Make the arrivals of a barrier's current phase those of its last, and so on.

        `first` is the bit of the first of `3 * ages` columns, behind which lie `orders` more. Of the new
        phase nothing has happened, and of waits and issues of the old one nobody asks: all that is known.
        """
        low = (1 << ages) - 1
        kept = (1 << 2 * ages) - 1
        hole = ~((1 << 3 * ages + orders) - 1 << first)
        closed = (low | (1 << orders) - 1 << 3 * ages) << first
        up = first + ages

        def moved(masks: list[int]) -> list[int]:
            return [mask and mask & hole | (mask >> first & kept) << up | closed for mask in masks]

        self.known, self.last = moved(self.known), moved(self.last)
        self.current, self.landing = moved(self.current), moved(self.landing)
        for queues in self.queues:
            for queue in queues:
                queue.past, queue.proof = moved([queue.past, queue.proof])
                queue.proof &= ~closed
                for group in queue.groups:
                    if group.proof:
                        group.proof = moved([group.proof])[0] & ~closed
