"""A system laid out for running: flat code for each agent, one bit for each fact that somebody may ask for.

What an agent, a barrier or an engine knows is one integer. The bits of all that belongs to a stage lie side
by side, stage after stage, so that turning a ring is one rotation (`docs/proof.md`, "Knowledge").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm

from tsc.prove.layout import Layout, lay_out
from tsc.prove.machine import (
    Agent,
    All,
    Arrive,
    Block,
    Drain,
    Exceeds,
    Fence,
    If,
    InRounds,
    Item,
    Load,
    Loop,
    Move,
    System,
    Test,
    Touch,
    Wait,
)
from tsc.prove.ops import (
    ArriveOp,
    DrainOp,
    EndOp,
    EnterOp,
    FenceOp,
    IfOp,
    JumpOp,
    LoadOp,
    MoveOp,
    NextOp,
    Op,
    Part,
    TestOp,
    TouchOp,
    WaitOp,
)
from tsc.prove.questions import Site, sites_of
from tsc.prove.verdict import OUTSIDE


@dataclass(slots=True)
class AgentCode:
    """An agent's code, and for each place in it what may still happen from there on."""

    agent: Agent
    ops: list[Op] = field(default_factory=list)
    # Loops around each op by the places of their tests, outermost first; the first is that over the tiles.
    loops: list[tuple[int, ...]] = field(default_factory=list)
    # Ops, as bits, that come after each op in this round of all loops around.
    ahead: list[int] = field(default_factory=list)
    sites: tuple[Site, ...] = ()
    linked: tuple[tuple[int, ...], ...] = ()  # cursors that an `upto` ties together
    used: tuple[tuple[tuple[int, int], ...], ...] = ()  # barriers that a cursor is used on, each with its lag
    kept: tuple[int, ...] = ()  # the most groups that a drain of an engine leaves
    asks: list[int] = field(default_factory=list)  # bits
    waits: list[int] = field(default_factory=list)  # barrier arrays, as bits
    arrives: list[int] = field(default_factory=list)
    cursors: list[int] = field(default_factory=list)  # cursors that may still be used, as bits
    drains: list[int] = field(default_factory=list)  # engines that may still be drained, as bits
    commits: list[int] = field(default_factory=list)  # engines that may still arrive, as bits


@dataclass(slots=True)
class Code:
    """A system's code."""

    system: System
    layout: Layout
    agents: tuple[AgentCode, ...]
    fresh: int  # segments, as bits, that some read must find written
    filled: int  # bits that say whether a stage was filled, for which some read asks
    far: int  # whoever is so many values behind what is known of a number gets a number of his own
    latest: int  # the largest value with which a loop begins
    deep: int  # whoever is behind by so many answers of several tiles gets tiles of his own
    most: dict[int, int]  # the largest constant with which a number is compared


def compile_system(system: System) -> Code:
    """Lay a system out and flatten its agents."""
    layout = lay_out(system)
    agents = tuple(_Flat(system, layout, i).finish() for i in range(len(system.agents)))
    period = max((op.cap + op.period for a in agents for op in a.ops if isinstance(op, NextOp)), default=1)
    step = max((op.step for a in agents for op in a.ops if isinstance(op, NextOp)), default=1)
    stages = max((ring.stages for ring in system.rings), default=1)
    most: dict[int, int] = {}
    for agent in agents:
        for site in agent.sites:
            if site.number and site.constant is not None:
                most[site.index] = max(most.get(site.index, 0), site.constant)
    fresh = filled = 0
    for agent in agents:
        for op in agent.ops:
            for part in op.parts if isinstance(op, TouchOp) else ():
                for spread in part.spreads:
                    fresh |= spread.fresh
                    filled |= spread.filled
    latest = max((op.start for a in agents for op in a.ops if isinstance(op, EnterOp)), default=0)
    return Code(
        system,
        layout,
        agents,
        fresh,
        filled,
        2 * stages * max(period, step) + 2,
        max(0, latest),
        stages + period + 2,
        most,
    )


class _Flat:
    """Flattens one agent."""

    def __init__(self, system: System, layout: Layout, index: int) -> None:
        self.system, self.layout, self.index = system, layout, index
        self.code = AgentCode(system.agents[index])
        self.loops: list[int] = [OUTSIDE]
        self.seen: dict[tuple[int | None, int], int] = {}

    def finish(self) -> AgentCode:
        self.block(self.code.agent.body, -1)
        self.put(EndOp(()))
        code = self.code
        code.sites = tuple(sites_of(code.ops, code.loops, self.system.numbers, self.system.facts))
        code.linked = _linked(code)
        code.used = tuple(_used(code.ops, cursor) for cursor in range(len(code.agent.cursors)))
        code.kept = tuple(
            max((op.keep for op in code.ops if isinstance(op, DrainOp) and op.engine == engine), default=0)
            for engine in range(len(code.agent.engines))
        )
        code.ahead = _ahead(code.ops)
        _look_ahead(self.system, self.layout, code)
        return code

    def put(self, op: Op) -> int:
        self.code.ops.append(op)
        self.code.loops.append(tuple(self.loops))
        return len(self.code.ops) - 1

    def block(self, block: Block, level: int) -> None:
        for node in block:
            if isinstance(node, Loop):
                self.loop(node, level)
            elif isinstance(node, If):
                branch = IfOp(node.route, node.test, level)
                self.put(branch)
                before = dict(self.seen)
                self.block(node.then, level)
                if node.otherwise:
                    jump = JumpOp(node.route)
                    self.put(jump)
                    branch.to = len(self.code.ops)
                    # Only one of the two blocks runs, so their loops have the same place among all.
                    then, self.seen = self.seen, before
                    self.block(node.otherwise, level)
                    jump.to = len(self.code.ops)
                    self.seen |= {key: max(n, self.seen.get(key, 0)) for key, n in then.items()}
                else:
                    branch.to = len(self.code.ops)
            else:
                self.put(self.instruction(node))

    def loop(self, node: Loop, level: int) -> None:
        inner = 0 if node.tiles else max(level, 0) + 1
        occurrence = self.seen.get((node.bound.number, inner), 0)
        self.seen[node.bound.number, inner] = occurrence + 1
        self.put(EnterOp(node.route, inner, node.bound, node.start, occurrence))
        outer = self.loops
        self.loops = [*(() if node.tiles else outer), len(self.code.ops)]
        test = TestOp(node.route, inner, node.bound, occurrence)
        at = self.put(test)
        self.block(node.body, inner)
        cap, period = rounds_told_apart(node)
        self.put(NextOp(node.route, inner, node.step, cap, period, at))
        self.loops = outer
        test.to = len(self.code.ops)

    def part(self, item: Item, engine: int | None, load: bool = False) -> Part:
        cursor = None if item.cursor is None else self.code.agent.cursors[item.cursor]
        back = item.back * (cursor.stride if cursor else 0)
        return Part(item.cursor, back, self.layout.spreads(self.index, item, engine, load))

    def instruction(self, node: object) -> Op:
        barriers = self.layout.barriers
        match node:
            case Wait():
                clears = tuple(self.layout.filled_bits(cells) for cells in node.clears)
                return WaitOp(node.route, node.barrier, node.cursor, node.lag, node.moves, clears)
            case Arrive():
                mine = tuple(barriers[b].arrivers[self.index, node.engine] for b in node.barriers)
                rest = node.cursor, node.weight, node.upto, node.keep, node.engine
                return ArriveOp(node.route, node.barriers, mine, *rest)
            case Move():
                return MoveOp(node.route, node.cursors)
            case Touch():
                parts = tuple(self.part(item, node.engine) for item in node.items)
                return TouchOp(node.route, parts, node.engine)
            case Load():
                columns = {t.barrier: barriers[t.barrier].arrivers[None, None] for t in node.targets}
                targets = tuple(
                    (t.barrier, columns[t.barrier], self.part(t.item, None, True), t.weight)
                    for t in node.targets
                )
                return LoadOp(node.route, targets)
            case Drain():
                return DrainOp(node.route, node.engine, node.keep)
            case Fence():
                return FenceOp(node.route, node.tensors)
        raise TypeError(f"no instruction: {node!r}")


def rounds_told_apart(loop: Loop) -> tuple[int, int]:
    """Return up to which round the tests inside a loop tell its rounds apart, and their period."""
    cap, period = 0, 1

    def look(test: Test, depth: int) -> None:
        nonlocal cap, period
        if isinstance(test, InRounds) and test.up == depth:
            cap, period = max(cap, len(test.head)), lcm(period, max(1, len(test.cycle)))
        elif isinstance(test, Exceeds) and test.up == depth and test.bound.number is None:
            # Whether a constant exceeds the loop's value: it does up to some round, and then never again.
            cap = max(cap, -(-(test.bound.offset - test.beyond - loop.start) // loop.step))
        elif isinstance(test, All):
            for inner in test.tests:
                look(inner, depth)

    def visit(block: Block, depth: int) -> None:
        for node in block:
            if isinstance(node, If):
                look(node.test, depth)
                visit(node.then, depth)
                visit(node.otherwise, depth)
            elif isinstance(node, Loop):
                visit(node.body, depth + 1)

    visit(loop.body, 0)
    return cap, period


def _linked(code: AgentCode) -> tuple[tuple[int, ...], ...]:
    sets: list[set[int]] = [{i} for i in range(len(code.agent.cursors))]
    for op in code.ops:
        if isinstance(op, ArriveOp) and op.upto is not None:
            joined = next(s for s in sets if op.cursor in s) | next(s for s in sets if op.upto in s)
            sets = [s for s in sets if not s & joined] + [joined]
    return tuple(tuple(sorted(s)) for s in sets)


def _used(ops: list[Op], cursor: int) -> tuple[tuple[int, int], ...]:
    found: set[tuple[int, int]] = set()
    for op in ops:
        if isinstance(op, WaitOp) and op.cursor == cursor:
            found.add((op.barrier, op.lag))
        elif isinstance(op, ArriveOp) and op.cursor == cursor:
            found |= {(barrier, 0) for barrier in op.barriers}
    return tuple(sorted(found))


def _successors(ops: list[Op], at: int) -> tuple[int, ...]:
    match ops[at]:
        case TestOp(to=to) | IfOp(to=to):
            return (at + 1, to)
        case NextOp(to=to) | JumpOp(to=to):
            return (to,)
        case EndOp():
            return ()
    return (at + 1,)


def _ahead(ops: list[Op]) -> list[int]:
    """Return what may come from each place on without going back: where a round ends, its loop does."""
    ahead = [0] * len(ops)
    for at in range(len(ops) - 1, -1, -1):
        op = ops[at]
        test = ops[op.to] if isinstance(op, NextOp) else None
        after = (test.to,) if isinstance(test, TestOp) else _successors(ops, at)
        ahead[at] = 1 << at
        for to in after:
            ahead[at] |= ahead[to]
    return ahead


def _look_ahead(system: System, layout: Layout, code: AgentCode) -> None:
    """Fill in what may still happen from each place: own effect, joined backwards until nothing changes."""
    own = [_own(system, layout, op) for op in code.ops]
    flows = [list(one) for one in own]
    after = [_successors(code.ops, at) for at in range(len(code.ops))]
    changed = True
    while changed:
        changed = False
        for at in range(len(flows) - 1, -1, -1):
            mine = flows[at]
            for to in after[at]:
                for i, bits in enumerate(flows[to]):
                    if bits & ~mine[i]:
                        mine[i] |= bits
                        changed = True
    code.asks, code.waits, code.arrives, code.cursors, code.drains, code.commits = (
        [flow[i] for flow in flows] for i in range(6)
    )


def _own(system: System, layout: Layout, op: Op) -> tuple[int, int, int, int, int, int]:
    asks = waits = arrives = cursors = drains = commits = 0
    match op:
        case WaitOp():
            asks, waits, cursors = layout.barriers[op.barrier].arrival_bits, 1 << op.barrier, 1 << op.cursor
        case ArriveOp():
            for b in op.barriers:
                asks |= layout.barriers[b].arrival_bits | layout.barriers[b].order_bits
                arrives |= 1 << b
            cursors = 1 << op.cursor | (0 if op.upto is None else 1 << op.upto)
            commits = 0 if op.engine is None else 1 << op.engine
        case MoveOp():
            cursors = sum(1 << c for c in op.cursors)
        case TouchOp():
            for part in op.parts:
                asks |= part_asks(part)
                cursors |= 0 if part.cursor is None else 1 << part.cursor
        case LoadOp():
            for b, _, part, _ in op.targets:
                asks |= part_asks(part) | layout.barriers[b].arrival_bits | layout.barriers[b].order_bits
                arrives |= 1 << b
                cursors |= 0 if part.cursor is None else 1 << part.cursor
        case DrainOp():
            drains = 1 << op.engine
        case FenceOp():
            asks = layout.fenced_bits
    return asks, waits, arrives, cursors, drains, commits


def part_asks(part: Part) -> int:
    """Return all bits that an access may ask for, whatever its stage."""
    asks = 0
    for spread in part.spreads:
        asks |= spread.need
    return asks
