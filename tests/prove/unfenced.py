"""Whether an ordinary write reaches an access by the asynchronous proxy without a fence between them.

Of the explorer's states none says so: it is a matter of what happens before what. So this goes through one
run with ideal counters and keeps the past of every event, all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.prove.flatten import ARRIVE, DRAIN, FENCE, ISSUE, LOAD, QUEUE, TOUCH, WAIT, Flat, flatten
from tsc.prove.machine import System
from tsc.prove.verdict import Oracle


@dataclass(slots=True)
class Phase:
    """A phase of one barrier: weights that came, and the past of all that arrived."""

    got: int = 0
    past: int = 0


def unfenced(system: System, oracle: Oracle) -> bool:
    """Return whether a fence is missing in the run with these answers, in which no bit misleads."""
    return _Run(system, flatten(system, oracle, fences=True)).run()


class _Run:
    def __init__(self, system: System, flat: Flat) -> None:
        self.flat = flat
        self.tensors = sum(1 << segment for segment in system.tensors)
        self.proxy = [engine.proxy for agent in system.agents for engine in agent.engines]
        self.known = [0] * len(flat.agents)
        self.at = [0] * len(flat.agents)
        self.items: list[list[int]] = [[] for _ in flat.queues]  # the past of each item
        self.phases: list[list[Phase]] = [[Phase()] for _ in flat.counts]
        self.writes: list[tuple[int, int]] = []  # event and segments of ordinary writes
        self.fences: list[tuple[int, int, bool]] = []  # event, its past, and which memory it is for
        self.events = 0
        self.missing = False

    def run(self) -> bool:
        moved = True
        while moved:
            moved = False
            for agent, steps in enumerate(self.flat.agents):
                while self.at[agent] < len(steps) and self.step(agent, steps[self.at[agent]]):
                    self.at[agent] += 1
                    moved = True
        return self.missing

    def event(self) -> int:
        self.events += 1
        return 1 << self.events

    def step(self, agent: int, step: tuple[int, ...]) -> bool:
        kind = step[0]
        if kind == WAIT:
            barrier, phase = step[1], step[2]
            if phase >= len(self.phases[barrier]) - 1:
                return False
            if phase >= 0:
                self.known[agent] |= self.phases[barrier][phase].past
        elif kind == DRAIN:
            for past in self.items[step[1]][: step[2]]:
                self.known[agent] |= past
        here = self.event()
        self.known[agent] |= here
        if kind == ARRIVE:
            self.arrive(step[1], step[3], self.known[agent])
        elif kind == TOUCH:
            self.writes.append((here, step[2]))
        elif kind == FENCE:
            self.fences.append((here, self.known[agent], bool(step[1])))
        elif kind == LOAD:
            self.load(agent, step[1])
        elif kind in (ISSUE, QUEUE):
            for engine, owner in enumerate(self.flat.owner):
                if owner == agent and len(self.items[engine]) < self.flat.issued[engine][self.at[agent] + 1]:
                    self.issue(agent, engine)
        return True

    def issue(self, agent: int, engine: int) -> None:
        items = self.items[engine]
        item = self.flat.queues[engine][len(items)]
        here = self.event()
        items.append(self.known[agent] | (items[-1] if items else 0) | here)
        if item.arrival is not None:
            barrier, _, weight = item.arrival
            self.arrive(barrier, weight, items[-1])
        elif self.proxy[engine]:
            self.check(agent, item.reads | item.writes)
        else:
            self.writes.append((here, item.writes))

    def load(self, agent: int, targets: tuple[int, ...]) -> None:
        for bit in targets:
            load = self.flat.loads[bit]
            self.check(agent, load.writes)
            past = self.known[agent] | self.event()
            if load.weight:
                self.arrive(load.barrier, load.weight, past)
            else:
                self.phases[load.barrier][-1].past |= past

    def arrive(self, barrier: int, weight: int, past: int) -> None:
        phase = self.phases[barrier][-1]
        phase.got += weight
        phase.past |= past
        if phase.got >= self.flat.counts[barrier]:
            self.phases[barrier].append(Phase())

    def check(self, agent: int, segments: int) -> None:
        """Look at an access by the proxy: each ordinary write that it meets has to be behind a fence."""
        known = self.known[agent]
        for write, written in self.writes:
            for tensors in (False, True):
                met = written & segments & (self.tensors if tensors else ~self.tensors)
                if met and not any(
                    known & fence and past & write and tensors == of_tensors
                    for fence, past, of_tensors in self.fences
                ):
                    self.missing = True
