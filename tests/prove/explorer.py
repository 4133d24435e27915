"""Every run of a system under fixed answers, with mbarriers as the hardware has them.

The reference that the proof is compared with: it knows neither happens-before nor windows, only what can be
seen in one state after another. A barrier is a phase bit, a pending count and the landings still due; a wait
looks at the bit alone. Loads land and engines finish their items whenever they like.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.prove.flatten import ARRIVE, DRAIN, ISSUE, LOAD, TOUCH, WAIT, Flat, flatten
from tsc.prove.machine import System
from tsc.prove.verdict import Oracle

STATES = 20_000
"""States after which a system counts as too big."""

Barriers = tuple[tuple[int, int, int], ...]
"""Of every stage of every barrier: phases over, arrivals of the current phase, landings that it waits for."""

State = tuple[tuple[int, ...], tuple[int, ...], int, Barriers, int]
"""Steps done by each agent, items done by each engine, loads that have landed (a bit a target), the barriers,
and segments that were cleared and not written since."""

WINDOWS = frozenset({"lap", "early", "arrive"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What some run does, `kinds` as in a verdict; nothing is known if the system is `too_big`.

    `unordered`: whether a stage may be cleared while its bytes are read or written. That is no race, as it
    writes nothing, but what a read finds then depends on the run.
    """

    kinds: frozenset[str]
    states: int
    too_big: bool
    unordered: bool

    @property
    def window(self) -> bool:
        """Whether some step is out of its window, so that the phase bit is no counter."""
        return bool(self.kinds & WINDOWS)


def explore(system: System, oracle: Oracle, cap: int = STATES, stop_at_window: bool = False) -> Outcome:
    """Go through every state that the hardware can reach; with `stop_at_window` only until a bit misleads."""
    return _Explorer(flatten(system, oracle)).run(cap, stop_at_window)


class _Explorer:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.kinds: set[str] = set()
        self.unordered = False

    def run(self, cap: int, stop_at_window: bool) -> Outcome:
        flat = self.flat
        barriers: Barriers = ((0, 0, 0),) * len(flat.counts)
        first: State = ((0,) * len(flat.agents), (0,) * len(flat.queues), 0, barriers, 0)
        seen = {first}
        todo = [first]
        while todo:
            if len(seen) > cap:
                return Outcome(frozenset(self.kinds), len(seen), True, self.unordered)
            for state in self.successors(todo.pop()):
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
            if stop_at_window and not WINDOWS.isdisjoint(self.kinds):
                break
        return Outcome(frozenset(self.kinds), len(seen), False, self.unordered)

    def successors(self, state: State) -> list[State]:
        """Return the states one step on, and note what is wrong with this state and with those steps."""
        flat = self.flat
        steps, done, landed, barriers, stale = state
        following: list[State] = []
        for agent, program in enumerate(flat.agents):
            step = steps[agent]
            if step == len(program):
                continue
            after = (*steps[:agent], step + 1, *steps[agent + 1 :])
            what = program[step]
            kind = what[0]
            now = barriers
            left = stale
            if kind == WAIT:
                if not self.passes(barriers[what[1]][0], what[2]):
                    continue
                if what[3]:
                    left |= what[3]
                    self.clear(state, agent, what[3])
            elif kind == ARRIVE:
                now = self.arrive(barriers, *what[1:])
            elif kind == TOUCH:
                self.begin(state, agent, None, *what[1:])
                left &= ~what[2]
            elif kind == ISSUE:
                self.begin(state, agent, *what[1:])
                left &= ~what[3]
            elif kind == LOAD:
                now = self.load(state, agent, what[1])
                for bit in what[1]:
                    left &= ~flat.loads[bit].writes
            elif kind == DRAIN and done[what[1]] < what[2]:
                continue
            following.append((after, done, landed, now, left))
        for engine, queue in enumerate(flat.queues):
            item = done[engine]
            if item < flat.issued[engine][steps[flat.owner[engine]]]:
                on = (*done[:engine], item + 1, *done[engine + 1 :])
                arrival = queue[item].arrival
                now = barriers if arrival is None else self.arrive(barriers, *arrival)
                following.append((steps, on, landed, now, stale))
        for bit, load in enumerate(flat.loads):
            if not landed >> bit & 1 and load.step < steps[load.agent]:
                now = self.land(barriers, load.barrier, load.phase, load.weight)
                following.append((steps, done, landed | 1 << bit, now, stale))
        if not following:
            self.end(state)
        return following

    def passes(self, over: int, phase: int) -> bool:
        """Whether a wait for `phase` passes; the bit says no more than whether `over` is odd."""
        if over >= phase + 2:
            self.kinds.add("lap")
        if over % 2 == phase % 2:
            return False
        if over < phase + 1:
            self.kinds.add("early")
        return True

    def arrive(self, barriers: Barriers, barrier: int, phase: int, weight: int) -> Barriers:
        over, got, due = barriers[barrier]
        if over != phase or got + weight > self.flat.counts[barrier]:
            self.kinds.add("arrive")
        return self.put(barriers, barrier, over, got + weight, due)

    def land(self, barriers: Barriers, barrier: int, phase: int, weight: int) -> Barriers:
        if weight:
            return self.arrive(barriers, barrier, phase, weight)
        over, got, due = barriers[barrier]
        return self.put(barriers, barrier, over, got, due - 1)

    def put(self, barriers: Barriers, barrier: int, over: int, got: int, due: int) -> Barriers:
        """Return the barriers after a change of one, whose phase ends when nothing is missing."""
        if got >= self.flat.counts[barrier] and due == 0:
            over, got = over + 1, 0
        return (*barriers[:barrier], (over, got, due), *barriers[barrier + 1 :])

    def load(self, state: State, agent: int, targets: tuple[int, ...]) -> Barriers:
        """Issue a load: the phases that are current now wait for its landings."""
        barriers = state[3]
        writes = 0
        for bit in targets:
            load = self.flat.loads[bit]
            self.begin(state, agent, None, 0, load.writes, 0, 0)
            if writes & load.writes:
                self.kinds.add("race")
            writes |= load.writes
            over, got, due = barriers[load.barrier]
            if over != load.phase:
                self.kinds.add("arrive")
            if not load.weight:
                entry = (over, got, due + 1)
                barriers = (*barriers[: load.barrier], entry, *barriers[load.barrier + 1 :])
        return barriers

    def begin(
        self, state: State, agent: int, engine: int | None, reads: int, writes: int, fresh: int, filled: int
    ) -> None:
        """Note a race of an access that begins with an open one, and a read of what nobody has written."""
        flat = self.flat
        steps, done, landed, _, stale = state
        if filled & stale:
            self.kinds.add("stale")
        for other, step in enumerate(steps):
            last = flat.agents[other][step - 1] if step else ()
            if other != agent and step and last[0] == WAIT and last[3] & (filled | writes):
                self.unordered = True
        if fresh:
            written = flat.written
            for other, step in enumerate(steps):
                written |= flat.wrote[other][step]
            if fresh & ~written:
                self.kinds.add("unwritten")
        if "race" in self.kinds:
            return
        both = reads | writes
        for other, program in enumerate(flat.agents):
            step = steps[other]
            if other != agent and step and program[step - 1][0] == TOUCH:
                _, read, write, *_ = program[step - 1]
                if write & both or read & writes:
                    self.kinds.add("race")
        for other, queue in enumerate(flat.queues):
            if other == engine:
                continue
            for item in queue[done[other] : flat.issued[other][steps[flat.owner[other]]]]:
                if item.writes & both or item.reads & writes:
                    self.kinds.add("race")
        for bit, load in enumerate(flat.loads):
            if not landed >> bit & 1 and load.step < steps[load.agent] and load.writes & both:
                self.kinds.add("race")

    def clear(self, state: State, agent: int, clears: int) -> None:
        """Note that a stage is cleared whose bytes are being accessed."""
        flat = self.flat
        steps, done, landed, _, _ = state
        open_ = 0
        for other, step in enumerate(steps):
            if other != agent and step and flat.agents[other][step - 1][0] == TOUCH:
                open_ |= flat.agents[other][step - 1][2] | flat.agents[other][step - 1][4]
        for engine, queue in enumerate(flat.queues):
            for item in queue[done[engine] : flat.issued[engine][steps[flat.owner[engine]]]]:
                open_ |= item.reads | item.writes
        for bit, load in enumerate(flat.loads):
            if not landed >> bit & 1 and load.step < steps[load.agent]:
                open_ |= load.writes
        self.unordered = self.unordered or bool(open_ & clears)

    def end(self, state: State) -> None:
        """Judge a state in which nothing moves any more."""
        steps, _, _, barriers, _ = state
        if any(step < len(program) for step, program in zip(steps, self.flat.agents, strict=True)):
            self.kinds.add("deadlock")
            return
        for cursor, stride, stages in self.flat.takers:
            for stage, barrier in enumerate(stages):
                for phase in range(barriers[barrier][0]):
                    fill = phase * len(stages) + stage
                    if fill >= cursor and (fill - cursor) % stride == 0:
                        self.kinds.add("leftover")
