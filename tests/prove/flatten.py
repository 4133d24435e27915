"""Turns the agents of a system into plain sequences of steps, given all answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tsc.prove import machine as m
from tsc.prove.verdict import OUTSIDE, Coordinates, Oracle

WAIT, ARRIVE, TOUCH, ISSUE, QUEUE, LOAD, DRAIN, FENCE = range(8)
"""Kinds of steps. (WAIT, barrier, phase, clears) | (ARRIVE, barrier, phase, weight) |
(TOUCH, reads, writes, fresh, filled) | (ISSUE, engine, reads, writes, fresh, filled) | (QUEUE,) |
(LOAD, targets) | (DRAIN, engine, items) | (FENCE, tensors): barriers are stages of barriers; clears, reads,
writes, fresh and filled are sets of segments as bits; `items` must be done."""


@dataclass(frozen=True, slots=True)
class QueueItem:
    """An item of an engine: a group of accesses, or an arrival (barrier, phase, weight)."""

    reads: int
    writes: int
    arrival: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Landing:
    """One target of a load, issued by step `step` of `agent`."""

    agent: int
    step: int
    barrier: int
    phase: int
    weight: int
    writes: int


@dataclass(frozen=True, slots=True)
class Flat:
    """A system without control: what `explore` runs.

    `issued[engine][n]`: items issued when the owner has done n steps; `wrote[agent][n]`: segments written by
    then. `takers`: the cursor at the end, its stride, and the barrier of each stage.
    """

    agents: tuple[tuple[tuple[Any, ...], ...], ...]
    queues: tuple[tuple[QueueItem, ...], ...]
    owner: tuple[int, ...]
    issued: tuple[tuple[int, ...], ...]
    loads: tuple[Landing, ...]
    counts: tuple[int, ...]
    wrote: tuple[tuple[int, ...], ...]
    written: int
    takers: tuple[tuple[int, int, tuple[int, ...]], ...]


class _Walker:
    def __init__(self, system: m.System, oracle: Oracle, fences: bool) -> None:
        self.fences = fences
        self.system = system
        self.oracle = oracle
        self.first = []
        total = 0
        for barrier in system.barriers:
            self.first.append(total)
            total += system.rings[barrier.ring].stages
        self.engines = []
        total = 0
        for agent in system.agents:
            self.engines.append(total)
            total += len(agent.engines)
        self.queues: list[list[QueueItem]] = [[] for _ in range(total)]
        self.issued: list[list[int]] = [[] for _ in range(total)]
        self.loads: list[Landing] = []
        self.cursors: list[list[int]] = [[c.start for c in agent.cursors] for agent in system.agents]

    def agent(self, index: int) -> tuple[tuple[Any, ...], ...]:
        self.index = index
        self.steps: list[tuple[Any, ...]] = []
        self.tile = OUTSIDE
        self.values: list[int] = []
        self.rounds: list[int] = []
        self.loops: list[int] = []
        self.mark()
        self.block(self.system.agents[index].body)
        return tuple(self.steps)

    def mark(self) -> None:
        first = self.engines[self.index]
        for engine in range(first, first + len(self.system.agents[self.index].engines)):
            self.issued[engine].append(len(self.queues[engine]))

    def step(self, *step: Any) -> None:
        self.steps.append(step)
        self.mark()

    def at(self, depth: int) -> Coordinates:
        return (self.tile, *self.values)[:depth]

    def bound(self, bound: m.Bound) -> int:
        if bound.number is None:
            return bound.offset
        depth = self.system.numbers[bound.number].depth
        return bound.scale * self.oracle.number(bound.number, self.at(depth)) + bound.offset

    def test(self, test: m.Test) -> bool:
        match test:
            case m.Ask():
                fact = self.oracle.fact(test.fact, self.at(self.system.facts[test.fact].depth))
                return fact == test.value
            case m.Exceeds():
                value = 0 if test.up is None else self.loops[-1 - test.up]
                return (self.bound(test.bound) > value + test.beyond) == test.value
            case m.InRounds():
                turn = self.rounds[-1 - test.up]
                if turn < len(test.head):
                    return test.head[turn]
                return test.cycle[(turn - len(test.head)) % len(test.cycle)]
            case m.All():
                return all(self.test(inner) for inner in test.tests) == test.value

    def block(self, block: m.Block) -> None:
        for node in block:
            match node:
                case m.Loop():
                    self.loop(node)
                case m.If():
                    self.block(node.then if self.test(node.test) else node.otherwise)
                case _:
                    self.instruction(node)

    def loop(self, loop: m.Loop) -> None:
        bound = self.bound(loop.bound)
        self.rounds.append(0)
        self.loops.append(0)
        if not loop.tiles:
            self.values.append(0)
        for value in range(loop.start, bound, loop.step):
            self.loops[-1] = value
            if loop.tiles:
                self.tile = value
            else:
                self.values[-1] = value
            self.block(loop.body)
            self.rounds[-1] += 1
        self.rounds.pop()
        self.loops.pop()
        if loop.tiles:
            self.tile = OUTSIDE
        else:
            self.values.pop()

    def stage(self, barrier: int, value: int, lag: int = 0) -> tuple[int, int]:
        """Return the barrier of the stage and the phase for a cursor's value."""
        stages = self.system.rings[self.system.barriers[barrier].ring].stages
        return self.first[barrier] + value % stages, value // stages - lag

    def position(self, item: m.Item) -> int:
        """Return the value of an item's cursor `back` strides ago."""
        if item.cursor is None:
            return 0
        stride = self.system.agents[self.index].cursors[item.cursor].stride
        return self.cursors[self.index][item.cursor] - item.back * stride

    def bits(self, items: tuple[m.Item, ...], wanted: Callable[[m.Item], bool]) -> int:
        bits = 0
        for item in items:
            if wanted(item):
                for segment in item.cells[0] if item.cursor is None else self.cells(item):
                    bits |= 1 << segment
        return bits

    def cells(self, item: m.Item) -> tuple[int, ...]:
        assert item.cursor is not None
        if len(item.cells) == 1:
            return item.cells[0]
        ring = self.system.agents[self.index].cursors[item.cursor].ring
        return item.cells[self.position(item) % self.system.rings[ring].stages]

    def instruction(self, node: m.Instruction) -> None:
        agent = self.system.agents[self.index]
        cursors = self.cursors[self.index]
        first = self.engines[self.index]
        match node:
            case m.Wait():
                stages = self.system.rings[self.system.barriers[node.barrier].ring].stages
                cleared = node.clears[cursors[node.cursor] % stages] if node.clears else ()
                clears = sum(1 << segment for segment in set(cleared))
                self.step(WAIT, *self.stage(node.barrier, cursors[node.cursor], node.lag), clears)
                if node.moves:
                    cursors[node.cursor] += agent.cursors[node.cursor].stride
            case m.Arrive():
                stride = agent.cursors[node.cursor].stride
                while node.upto is None or cursors[node.upto] - cursors[node.cursor] > node.keep * stride:
                    for barrier in node.barriers:
                        meant = (*self.stage(barrier, cursors[node.cursor]), node.weight)
                        if node.engine is None:
                            self.step(ARRIVE, *meant)
                        else:
                            self.queues[first + node.engine].append(QueueItem(0, 0, meant))
                            self.step(QUEUE)
                    cursors[node.cursor] += stride
                    if node.upto is None:
                        break
            case m.Move():
                for cursor in node.cursors:
                    cursors[cursor] += agent.cursors[cursor].stride
            case m.Touch():
                reads = self.bits(node.items, lambda item: not item.write)
                writes = self.bits(node.items, lambda item: item.write)
                fresh = self.bits(node.items, lambda item: item.fresh)
                filled = self.bits(node.items, lambda item: item.filled)
                if node.engine is None:
                    self.step(TOUCH, reads, writes, fresh, filled)
                else:
                    self.queues[first + node.engine].append(QueueItem(reads, writes, None))
                    self.step(ISSUE, first + node.engine, reads, writes, fresh, filled)
            case m.Load():
                self.load(node)
            case m.Drain():
                queue = self.queues[first + node.engine]
                groups = [index for index, item in enumerate(queue) if item.arrival is None]
                proved = groups[: max(0, len(groups) - node.keep)]
                self.step(DRAIN, first + node.engine, proved[-1] + 1 if proved else 0)
            case m.Fence() if self.fences:
                self.step(FENCE, node.tensors)

    def load(self, node: m.Load) -> None:
        bits = []
        for target in node.targets:
            assert target.item.cursor is not None
            barrier, phase = self.stage(target.barrier, self.position(target.item))
            weight = target.weight
            writes = self.bits((target.item,), lambda item: True)
            bits.append(len(self.loads))
            self.loads.append(Landing(self.index, len(self.steps), barrier, phase, weight, writes))
        self.step(LOAD, tuple(bits))


def flatten(system: m.System, oracle: Oracle, fences: bool = False) -> Flat:
    """Return the steps that each agent takes under these answers, `fences` among them or not."""
    walker = _Walker(system, oracle, fences)
    agents = tuple(walker.agent(index) for index in range(len(system.agents)))
    wrote = tuple(tuple(_wrote(steps, walker.loads)) for steps in agents)
    owner = tuple(index for index, agent in enumerate(system.agents) for _ in agent.engines)
    stages = [system.rings[barrier.ring].stages for barrier in system.barriers]
    return Flat(
        agents=agents,
        queues=tuple(map(tuple, walker.queues)),
        owner=owner,
        issued=tuple(map(tuple, walker.issued)),
        loads=tuple(walker.loads),
        counts=tuple(b.count for b, n in zip(system.barriers, stages, strict=True) for _ in range(n)),
        wrote=wrote,
        written=sum(1 << segment for segment in system.written),
        takers=tuple(
            (
                walker.cursors[taker.agent][taker.cursor],
                system.agents[taker.agent].cursors[taker.cursor].stride,
                tuple(walker.first[taker.barrier] + s for s in range(stages[taker.barrier])),
            )
            for taker in system.takers
        ),
    )


def _wrote(steps: tuple[tuple[Any, ...], ...], loads: list[Landing]) -> list[int]:
    written = 0
    result = [written]
    for step in steps:
        match step[0]:
            case kind if kind == TOUCH:
                written |= step[2]
            case kind if kind == ISSUE:
                written |= step[3]
            case kind if kind == LOAD:
                for bit in step[1]:
                    written |= loads[bit].writes
        result.append(written)
    return result
