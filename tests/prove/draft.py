"""Builds systems by hand and by chance: a draft that names grow in, and the steps of a ring's two sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.prove import machine as m


@dataclass(slots=True)
class RingDraft:
    """A ring with its barriers, and the segments of each stage."""

    index: int
    stages: int
    full: int
    empty: int
    cells: m.Cells


@dataclass(slots=True)
class AgentDraft:
    """An agent whose body is still growing."""

    label: str
    cta: int = 0
    cursors: list[m.Cursor] = field(default_factory=list)
    engines: list[m.Engine] = field(default_factory=list)
    body: list[m.Node] = field(default_factory=list)
    places: int = 0

    def agent(self) -> m.Agent:
        return m.Agent(self.label, tuple(self.cursors), tuple(self.engines), tuple(self.body), self.cta)

    def cursor(self, ring: int, start: int = 0, stride: int = 1) -> int:
        self.cursors.append(m.Cursor(ring, start, stride))
        return len(self.cursors) - 1

    def engine(self, name: str, proxy: bool = False) -> int:
        self.engines.append(m.Engine(name, proxy))
        return len(self.engines) - 1

    def route(self) -> tuple[str | int, ...]:
        self.places += 1
        return (self.label, self.places)

    def wait(
        self, barrier: int, cursor: int, lag: int = 0, moves: bool = True, clears: m.Cells = ()
    ) -> m.Wait:
        return m.Wait(self.route(), barrier, cursor, lag, moves, clears)

    def arrive(
        self,
        barriers: int | tuple[int, ...],
        cursor: int,
        upto: int | None = None,
        keep: int = 0,
        weight: int = 1,
        engine: int | None = None,
    ) -> m.Arrive:
        several = barriers if isinstance(barriers, tuple) else (barriers,)
        return m.Arrive(self.route(), several, cursor, weight, upto, keep, engine)

    def move(self, *cursors: int) -> m.Move:
        return m.Move(self.route(), cursors)

    def touch(self, *items: m.Item, engine: int | None = None) -> m.Touch:
        return m.Touch(self.route(), items, engine)

    def load(self, *targets: m.Target) -> m.Load:
        return m.Load(self.route(), targets)

    def drain(self, engine: int, keep: int = 0) -> m.Drain:
        return m.Drain(self.route(), engine, keep)

    def fence(self, tensors: bool = False) -> m.Fence:
        return m.Fence(self.route(), tensors)

    def loop(
        self, bound: m.Bound | int, *body: m.Node, start: int = 0, step: int = 1, tiles: bool = False
    ) -> m.Loop:
        known = m.Bound(None, 1, bound) if isinstance(bound, int) else bound
        return m.Loop(self.route(), known, body, start, step, tiles)

    def when(self, test: m.Test, *then: m.Node, otherwise: m.Block = ()) -> m.If:
        return m.If(self.route(), test, then, otherwise)


@dataclass(slots=True)
class Draft:
    """A system that is still growing."""

    rings: list[m.Ring] = field(default_factory=list)
    barriers: list[m.Barrier] = field(default_factory=list)
    numbers: list[m.Number] = field(default_factory=list)
    facts: list[m.Fact] = field(default_factory=list)
    agents: list[AgentDraft] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    takers: list[m.Taker] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    tensors: set[int] = field(default_factory=set)

    def ring(
        self, stages: int, full: int = 1, empty: int = 1, turns: bool = True, parts: int = 1
    ) -> RingDraft:
        index = len(self.rings)
        self.rings.append(m.Ring(f"r{index}", stages, turns))
        cells = tuple(
            tuple(self.segment(f"r{index}[{stage}].{part}") for part in range(parts))
            for stage in range(stages)
        )
        filled = self.barrier(index, full, f"r{index}.full")
        return RingDraft(index, stages, filled, self.barrier(index, empty, f"r{index}.empty"), cells)

    def barrier(self, ring: int, count: int, name: str = "") -> int:
        self.barriers.append(m.Barrier(name or f"b{len(self.barriers)}", ring, count))
        return len(self.barriers) - 1

    def named(self, count: int) -> int:
        """Add a barrier of a ring of its own with one stage."""
        self.rings.append(m.Ring(f"n{len(self.rings)}", 1))
        return self.barrier(len(self.rings) - 1, count)

    def segment(self, name: str = "", written: bool = False) -> int:
        self.segments.append(name or f"s{len(self.segments)}")
        if written:
            self.written.add(len(self.segments) - 1)
        return len(self.segments) - 1

    def number(self, name: str, depth: int = 0, lo: int | None = 0, hi: int | None = None) -> m.Bound:
        self.numbers.append(m.Number(name, depth, lo, hi))
        return m.Bound(len(self.numbers) - 1)

    def fact(self, depth: int = 0) -> int:
        self.facts.append(m.Fact(f"f{len(self.facts)}", depth))
        return len(self.facts) - 1

    def agent(self, label: str = "", cta: int = 0) -> AgentDraft:
        self.agents.append(AgentDraft(label or f"a{len(self.agents)}", cta))
        return self.agents[-1]

    def system(self) -> m.System:
        return m.System(
            tuple(self.rings),
            tuple(self.barriers),
            tuple(self.numbers),
            tuple(self.facts),
            tuple(agent.agent() for agent in self.agents),
            tuple(self.segments),
            tuple(self.takers),
            frozenset(self.written),
            frozenset(self.tensors),
        )


def read(
    cells: m.Cells | int, cursor: int | None = None, back: int = 0, fresh: bool = False, filled: bool = False
) -> m.Item:
    """Return a read of a stage, or of one segment."""
    return m.Item(((cells,),) if isinstance(cells, int) else cells, False, cursor, back, fresh, filled)


def write(cells: m.Cells | int, cursor: int | None = None, back: int = 0) -> m.Item:
    """Return a write of a stage, or of one segment."""
    return m.Item(((cells,),) if isinstance(cells, int) else cells, True, cursor, back)


def nodes(block: m.Block) -> Iterator[m.Node]:
    """Yield every node, those that hold others before what they hold."""
    for node in block:
        yield node
        for inner in m.blocks(node):
            yield from nodes(inner)
