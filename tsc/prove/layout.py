"""Where the bit of each fact lies.

A ring's barriers and bytes of one stage have their bits side by side; what belongs to no turning ring lies
behind all of them. Rings that one cursor or one arrival ties together turn together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.prove.machine import (
    Arrive,
    Instruction,
    Item,
    Load,
    Segment,
    System,
    Touch,
    Wait,
    instructions,
)

Component = tuple[int | None, int | None]
"""Who accesses: an agent (agent, None), one of its engines, or loads, whoever issues them (None, None)."""


@dataclass(slots=True)
class Spread:
    """What an access has to know at one stage (`need`), and the bits of the facts that it makes.

    `plain` are facts of the access itself, `proxy` those for readers by the asynchronous proxy; `writes` and
    `fresh` are segments as bits, `fills` and `filled` the bits that say whether a stage has been filled anew.
    """

    need: int
    plain: int
    proxy: int
    writes: int
    fresh: int
    fills: int
    filled: int


@dataclass(slots=True)
class Turning:
    """Rings that turn together: bits `base + stage * width + column`."""

    stages: int
    turns: bool
    rings: list[int]
    base: int = 0
    width: int = 0


@dataclass(slots=True)
class BarrierBits:
    """Bits of one barrier array.

    Columns of a stage: `arrivers` of the current phase, then of the last and the last but one, `ages` columns
    each; then one column a waiter, and one an agent that issues loads for it.
    """

    turning: int
    stages: int
    count: int
    flat: int  # index of stage 0 among all barriers' stages
    column: int
    arrivers: dict[Component, int]
    waiters: dict[int, int]
    issuers: dict[int, int]
    first: int = 0  # bit of `column` at stage 0
    stride: int = 0  # bits from stage to stage
    arrival_bits: int = 0
    order_bits: int = 0  # of waiters and issuers

    @property
    def ages(self) -> int:
        """Columns of one phase."""
        return len(self.arrivers)


@dataclass(slots=True)
class Column:
    """Segments that are the same bytes of every stage (or one, outside rings), and who accesses them."""

    segments: tuple[Segment, ...]
    turning: int | None
    accesses: set[tuple[Component, bool, bool]] = field(default_factory=set)  # component, write, by proxy
    plain: dict[tuple[Component, bool], int] = field(default_factory=dict)  # column of the fact
    proxy: dict[Component, int] = field(default_factory=dict)
    filled: bool = False  # whether somebody asks for what a fill brought
    first: int = 0
    stride: int = 0

    @property
    def width(self) -> int:
        """Number of its columns; the last one says whether it was filled, if anybody asks."""
        return len(self.plain) + len(self.proxy) + self.filled


@dataclass(slots=True)
class Layout:
    """All bits of a system; `bits` is their number."""

    system: System
    turnings: list[Turning]
    of_ring: list[int]
    barriers: list[BarrierBits]
    columns: list[Column]
    of_segment: dict[Segment, tuple[int, int]]  # column and stage
    bits: int
    flats: int
    fenced_bits: int
    # Ordinary writes, by where they are and by how many bits higher it says that the proxy sees them.
    fences: dict[bool, dict[int, int]]

    def spreads(self, agent: int, item: Item, engine: int | None, load: bool) -> tuple[Spread, ...]:
        """Return what an item needs and leaves, for each stage."""
        proxy = load or (engine is not None and self.system.agents[agent].engines[engine].proxy)
        who: Component = (None, None) if load else (agent, engine)
        return tuple(self._spread(who, cells, item, proxy) for cells in item.cells)

    def _spread(self, who: Component, cells: tuple[Segment, ...], item: Item, proxy: bool) -> Spread:
        spread = Spread(0, 0, 0, 0, 0, 0, 0)
        for segment in cells:
            index, stage = self.of_segment[segment]
            column = self.columns[index]
            at = column.first + stage * column.stride
            for (other, write), bit in column.plain.items():
                if (write or item.write) and not exempt(who, other):
                    spread.need |= 1 << at + bit
            if proxy:
                for bit in column.proxy.values():
                    spread.need |= 1 << at + bit
            if (who, item.write) in column.plain:
                spread.plain |= 1 << at + column.plain[who, item.write]
            if item.write and who in column.proxy:
                spread.proxy |= 1 << at + column.proxy[who]
            if item.write:
                spread.writes |= 1 << segment
                spread.fills |= self.filled_bits((segment,))
            if item.fresh:
                spread.fresh |= 1 << segment
            if item.filled:
                spread.filled |= self.filled_bits((segment,))
        return spread

    def filled_bits(self, cells: tuple[Segment, ...]) -> int:
        """Return the bits that say whether segments have been written since they were cleared."""
        found = 0
        for segment in cells:
            index, stage = self.of_segment.get(segment, (None, 0))
            if index is not None and self.columns[index].filled:
                column = self.columns[index]
                found |= 1 << column.first + stage * column.stride + column.width - 1
        return found


def exempt(one: Component, other: Component) -> bool:
    """Whether two accesses are ordered by themselves: of one agent, or of one in-order engine."""
    return one == other and one != (None, None)


def _accesses(system: System) -> Iterator[tuple[int, Item, int | None, bool]]:
    for i, agent in enumerate(system.agents):
        for node in instructions(agent.body):
            if isinstance(node, Touch):
                for item in node.items:
                    yield i, item, node.engine, False
            elif isinstance(node, Load):
                for target in node.targets:
                    yield i, target.item, None, True


def lay_out(system: System) -> Layout:
    """Give every fact its bit."""
    turnings, of_ring = _turnings(system)
    columns, of_segment = _columns(system, turnings, of_ring)
    barriers = _barriers(system, turnings, of_ring)
    for column in columns:
        _facts_of(column, turnings)
    base = 0
    for turning in turnings:
        turning.base = base
        base += turning.stages * turning.width
    for barrier in barriers:
        turning = turnings[barrier.turning]
        barrier.first, barrier.stride = turning.base + barrier.column, turning.width
        ages = (1 << 3 * barrier.ages) - 1
        orders = (1 << len(barrier.waiters) + len(barrier.issuers)) - 1 << 3 * barrier.ages
        for stage in range(barrier.stages):
            at = barrier.first + stage * barrier.stride
            barrier.arrival_bits |= ages << at
            barrier.order_bits |= orders << at
    fences: dict[bool, dict[int, int]] = {False: {}, True: {}}
    for column in columns:
        if column.turning is None:
            column.first, column.stride = base, 0
            base += column.width
        else:
            turning = turnings[column.turning]
            column.first, column.stride = column.first + turning.base, turning.width
        for stage in range(len(column.segments)):
            at = column.first + stage * column.stride
            for who, bit in column.proxy.items():
                above = bit - column.plain[who, True]
                space = fences[column.segments[stage] in system.tensors]
                space[above] = space.get(above, 0) | 1 << at + column.plain[who, True]
    fenced = 0
    for space in fences.values():
        for plain in space.values():
            fenced |= plain
    flats = sum(barrier.stages for barrier in barriers)
    return Layout(system, turnings, of_ring, barriers, columns, of_segment, base, flats, fenced, fences)


def _turnings(system: System) -> tuple[list[Turning], list[int]]:
    parent = list(range(len(system.rings)))

    def find(ring: int) -> int:
        while parent[ring] != ring:
            ring = parent[ring]
        return ring

    for agent in system.agents:
        for node in instructions(agent.body):
            for cursor, rings in _tied(system, node):
                for ring in rings:
                    parent[find(ring)] = find(agent.cursors[cursor].ring)
            if isinstance(node, Arrive) and node.upto is not None:
                parent[find(agent.cursors[node.upto].ring)] = find(agent.cursors[node.cursor].ring)
    roots = sorted({find(ring) for ring in range(len(system.rings))})
    turnings = []
    for root in roots:
        members = [ring for ring in range(len(system.rings)) if find(ring) == root]
        stages = {system.rings[ring].stages for ring in members}
        turns = len(stages) == 1 and all(system.rings[ring].turns for ring in members)
        turnings.append(Turning(max(stages), turns, members))
    return turnings, [roots.index(find(ring)) for ring in range(len(system.rings))]


def _tied(system: System, node: Instruction) -> Iterator[tuple[int, tuple[int, ...]]]:
    match node:
        case Wait():
            yield node.cursor, (system.barriers[node.barrier].ring,)
        case Arrive():
            yield node.cursor, tuple(system.barriers[b].ring for b in node.barriers)
        case Load():
            for target in node.targets:
                if target.item.cursor is not None:
                    yield target.item.cursor, (system.barriers[target.barrier].ring,)


def _columns(
    system: System, turnings: list[Turning], of_ring: list[int]
) -> tuple[list[Column], dict[Segment, tuple[int, int]]]:
    places: dict[Segment, set[tuple[int, tuple[Segment, ...]] | None]] = {}
    for agent, item, _, _ in _accesses(system):
        columns: tuple[tuple[Segment, ...], ...] = () if item.cursor is None else _columns_of(item)
        turning = None if item.cursor is None else of_ring[system.agents[agent].cursors[item.cursor].ring]
        for cells in item.cells:
            for j, segment in enumerate(cells):
                place = (turning, columns[j]) if columns and turning is not None else None
                places.setdefault(segment, set()).add(place)
    fixed = {segment for segment, where in places.items() if len(where) > 1}
    for where in places.values():
        for place in where:
            if place is not None and (fixed & set(place[1]) or len(set(place[1])) < len(place[1])):
                turnings[place[0]].turns = False  # its bytes are touched under another name too
    made: list[Column] = []
    of_segment: dict[Segment, tuple[int, int]] = {}
    for segment, where in places.items():
        place = next(iter(where))
        if segment in of_segment:
            continue
        if len(where) == 1 and place is not None and turnings[place[0]].turns:
            for stage, one in enumerate(place[1]):
                of_segment[one] = (len(made), stage)
            made.append(Column(place[1], place[0]))
        else:
            of_segment[segment] = (len(made), 0)
            made.append(Column((segment,), None))
    for agent, item, engine, load in _accesses(system):
        proxy = load or (engine is not None and system.agents[agent].engines[engine].proxy)
        who: Component = (None, None) if load else (agent, engine)
        for cells in item.cells:
            for segment in cells:
                column = made[of_segment[segment][0]]
                column.accesses.add((who, item.write, proxy))
                column.filled |= item.filled
    return made, of_segment


def _columns_of(item: Item) -> tuple[tuple[Segment, ...], ...]:
    width = {len(cells) for cells in item.cells}
    return tuple(zip(*item.cells, strict=True)) if len(width) == 1 else ()


def _facts_of(column: Column, turnings: list[Turning]) -> None:
    """Make a fact of each access that another one may have to know of, and of each that a fence publishes."""
    accesses = sorted(column.accesses, key=repr)
    read_by_proxy = any(proxy for _, _, proxy in accesses)
    fenced = [who for who, write, proxy in accesses if write and not proxy and read_by_proxy]
    for who, write, _ in accesses:
        met = any((write or also) and not exempt(who, other) for other, also, _ in accesses)
        if met or (write and who in fenced):
            column.plain.setdefault((who, write), len(column.plain))
    for who in fenced:
        column.proxy.setdefault(who, len(column.plain) + len(column.proxy))
    if column.turning is not None:
        turning = turnings[column.turning]
        column.first = turning.width
        turning.width += column.width


def _barriers(system: System, turnings: list[Turning], of_ring: list[int]) -> list[BarrierBits]:
    made: list[BarrierBits] = []
    flat = 0
    for index, barrier in enumerate(system.barriers):
        arrivers: dict[Component, int] = {}
        waiters: dict[int, int] = {}
        issuers: dict[int, int] = {}
        for i, agent in enumerate(system.agents):
            for node in instructions(agent.body):
                if isinstance(node, Wait) and node.barrier == index:
                    waiters.setdefault(i, len(waiters))
                elif isinstance(node, Arrive) and index in node.barriers:
                    arrivers.setdefault((i, node.engine), len(arrivers))
                elif isinstance(node, Load) and any(t.barrier == index for t in node.targets):
                    arrivers.setdefault((None, None), len(arrivers))
                    issuers.setdefault(i, len(issuers))
        turning = turnings[of_ring[barrier.ring]]
        stages = system.rings[barrier.ring].stages
        made.append(
            BarrierBits(
                of_ring[barrier.ring], stages, barrier.count, flat, turning.width, arrivers, waiters, issuers
            )
        )
        turning.width += 3 * len(arrivers) + len(waiters) + len(issuers)
        flat += stages
    return made
