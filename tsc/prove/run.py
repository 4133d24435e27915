"""Runs agents as far as no question stops them, with ideal counters, and checks every window and access.

Between two questions no choice matters (`docs/proof.md`, "One run is enough"): agents go in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tsc.prove.code import Code
from tsc.prove.decisions import Decisions, Question, Undecided, points_of
from tsc.prove.layout import BarrierBits, Spread
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
from tsc.prove.state import OUTER, Group, State
from tsc.prove.verdict import Kind


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong at a step: `bits` are facts that were not known, where it is about such."""

    kind: Kind
    agent: int
    at: int
    barrier: int | None = None
    stage: int | None = None
    phase: int | None = None
    bits: int = 0


class Recorder(Protocol):
    """Is told every step of a run."""

    def step(self, state: State, agent: int, what: str, barrier: int | None, stage: int, phase: int) -> None:
        """Note a step, before it takes effect."""
        ...

    def made(self, bits: int) -> None:
        """Note that the facts of these bits are those of the step noted last."""
        ...


class TooLong(Exception):
    """More steps between two questions than the budget allows."""


class Runner:
    """Runs states of one system."""

    def __init__(
        self, code: Code, decisions: Decisions, most_steps: int, recorder: Recorder | None = None
    ) -> None:
        self.code, self.decisions, self.recorder = code, decisions, recorder
        self.barriers = code.layout.barriers
        self.most_steps = most_steps
        self.steps = 0
        self.troubles: list[Trouble] = []
        self.stopped = False  # a window was violated: nothing more may be concluded from this run
        self.agent, self.at = 0, 0

    def drain(self, state: State) -> list[Question]:
        """Run every agent until it is blocked, done or at a question without an answer; return these."""
        self.troubles, self.stopped = [], False
        questions: dict[int, Question] = {}
        moved = True
        while moved and not self.stopped:
            moved = False
            for agent in range(len(self.code.agents)):
                if agent in questions:
                    continue
                before = self.steps
                try:
                    self.go(state, agent)
                except Undecided as undecided:
                    questions[agent] = undecided.question
                moved |= self.steps > before
                if self.stopped:
                    break
        return list(questions.values())

    def go(self, state: State, agent: int) -> None:
        """Run one agent until it can go no further."""
        ops = self.code.agents[agent].ops
        self.agent = agent
        while True:
            at = self.at = state.at[agent]
            op = ops[at]
            if isinstance(op, EndOp) or not self.do(state, agent, op):
                return
            self.steps += 1
            if self.steps > self.most_steps:
                raise TooLong

    def do(self, state: State, agent: int, op: Op) -> bool:
        """Do one step; return whether the agent went on."""
        following = state.at[agent] + 1
        match op:
            case WaitOp():
                if not self.wait(state, agent, op):
                    return False
            case ArriveOp():
                self.arrive(state, agent, op)
            case TouchOp():
                self.touch(state, agent, op)
            case LoadOp():
                self.load(state, agent, op)
            case MoveOp():
                for cursor in op.cursors:
                    state.cursors[agent][cursor] += self.code.agents[agent].agent.cursors[cursor].stride
            case DrainOp():
                self.note(state, "drain")
                self.drained(state, agent, op)
            case FenceOp():
                self.note(state, "fence")
                for above, plain in self.code.layout.fences.items():
                    state.known[agent] |= (state.known[agent] & plain) << above
            case EnterOp():
                frames = state.frames[agent]
                number, outer = op.bound.number, points_of(frames[: op.level])
                stream = 0 if number is None else state.streams[agent].get((number, outer), 0)
                del frames[op.level :]
                frames.append((number, stream, op.start, 0))
            case TestOp():
                frames = state.frames[agent]
                if not self.decisions.exceeds(state, agent, op.bound, frames[op.level][2], op.level):
                    del frames[op.level :]
                    if op.level == 0:
                        frames.append(OUTER)
                    following = op.to
            case NextOp():
                number, stream, value, count = state.frames[agent][op.level]
                count += 1
                if count >= op.cap + op.period:
                    count -= op.period
                state.frames[agent][op.level] = (number, stream, value + op.step, count)
                following = op.to
            case IfOp():
                if not self.decisions.holds(state, agent, op.test, op.level):
                    following = op.to
            case JumpOp():
                following = op.to
        if self.stopped:
            return False
        state.at[agent] = following
        return True

    # ---- barriers -----------------------------------------------------------------------------------------

    def wait(self, state: State, agent: int, op: WaitOp) -> bool:
        """Pass a phase that is over; a wait out of its window stops the run."""
        barrier = self.barriers[op.barrier]
        cursor = state.cursors[agent][op.cursor]
        stage, phase = cursor % barrier.stages, cursor // barrier.stages - op.lag
        flat = barrier.flat + stage
        done = state.done[flat]
        early = phase >= 1 and not self.knows(state, state.known[agent], barrier, stage, phase - 1)
        if early:
            # It sees the bit of what it knows to be reached: only that very phase, and only of the same
            # parity, makes it sleep, and then for good.
            asleep = (
                done < phase
                and (phase - done) % 2 == 0
                and (done == 0 or self.knows(state, state.known[agent], barrier, stage, done - 1))
            )
            if asleep:
                return False
            self.trouble("early", op.barrier, stage, phase, stop=True)
            return False
        if done >= phase + 2:
            self.trouble("lap", op.barrier, stage, phase, stop=True)
            return False
        if done <= phase:
            return False
        self.note(state, "wait", op.barrier, stage, phase)
        if phase >= 0:
            state.known[agent] |= state.last[flat]
        bit = 1 << barrier.first + stage * barrier.stride + 3 * barrier.ages + barrier.waiters[agent]
        state.forget(bit)
        state.known[agent] |= bit
        self.made(bit)
        if op.moves:
            state.cursors[agent][op.cursor] += self.code.agents[agent].agent.cursors[op.cursor].stride
        return True

    def knows(self, state: State, mask: int, barrier: BarrierBits, stage: int, phase: int) -> bool:
        """Return whether a past holds all arrivals of a phase, so that the phase is known to be over."""
        if phase < 0:
            return True
        age = state.done[barrier.flat + stage] - phase
        if age < 1:
            return False
        if age > 2:
            return True  # whoever asks has been lapped, which shows elsewhere
        arrivals = (1 << barrier.ages) - 1
        return mask >> barrier.first + stage * barrier.stride + age * barrier.ages & arrivals == arrivals

    def arrive(self, state: State, agent: int, op: ArriveOp) -> None:
        """Arrive once, or for all that is held beyond `keep`."""
        stride = self.code.agents[agent].agent.cursors[op.cursor].stride
        cursors = state.cursors[agent]
        while op.upto is None or cursors[op.upto] - cursors[op.cursor] > op.keep * stride:
            cursor = cursors[op.cursor]
            for index, column in zip(op.barriers, op.columns, strict=True):
                past = state.known[agent]
                if op.engine is not None:
                    # The arrival is behind all that the engine has been given.
                    queue = state.queues[agent][op.engine]
                    for group in queue.groups:
                        past |= group.facts | group.proof
                    past |= queue.past
                    queue.past = past
                self.arrival(state, agent, op, index, column, cursor, past)
                if self.stopped:
                    return
            cursors[op.cursor] += stride
            if op.upto is None:
                return

    def arrival(
        self, state: State, agent: int, op: ArriveOp, index: int, column: int, cursor: int, past: int
    ) -> None:
        """Count one arrival at one barrier."""
        barrier = self.barriers[index]
        stage, phase = cursor % barrier.stages, cursor // barrier.stages
        flat = barrier.flat + stage
        self.note(state, "arrive", index, stage, phase)
        fits = state.got[flat] + op.weight <= barrier.count
        if not fits or not self.in_window(state, past, barrier, stage, phase):
            self.trouble("arrive", index, stage, phase, stop=True)
            return
        bit = 1 << barrier.first + stage * barrier.stride + column
        state.forget(bit)
        self.made(bit)
        if op.engine is None:
            state.known[agent] |= bit
        else:
            state.queues[agent][op.engine].past |= bit
            state.queues[agent][op.engine].proof |= past | bit
        state.came[flat] |= 1 << column
        state.current[flat] |= past | bit
        self.count(state, index, stage, op.weight)

    def in_window(self, state: State, past: int, barrier: BarrierBits, stage: int, phase: int) -> bool:
        """Return whether an arrival surely falls into the phase that it is meant for."""
        if state.done[barrier.flat + stage] != phase:
            return False
        return self.knows(state, past, barrier, stage, phase - 1)

    def count(self, state: State, index: int, stage: int, weight: int) -> None:
        """Add to what has arrived in the current phase."""
        flat = self.barriers[index].flat + stage
        state.got[flat] += weight
        if state.got[flat] == self.barriers[index].count:
            self.complete(state, index, stage)

    def complete(self, state: State, index: int, stage: int) -> None:
        """End the current phase; whoever looked for the last one must have done so before."""
        barrier = self.barriers[index]
        flat = barrier.flat + stage
        first = barrier.first + stage * barrier.stride
        waiters, issuers = (1 << len(barrier.waiters)) - 1, (1 << len(barrier.issuers)) - 1
        orders = first + 3 * barrier.ages
        missed = waiters & ~((state.current[flat] | state.landing[flat]) >> orders)
        if missed:
            self.trouble("lap", index, stage, state.done[flat], missed << orders, stop=True)
            return
        issues = orders + len(barrier.waiters)
        missed = issuers & ~(state.current[flat] >> issues)
        if missed:
            # Without it the phase is over before a load is issued that is meant for it.
            self.trouble("arrive", index, stage, state.done[flat], missed << issues, stop=True)
            return
        state.last[flat] = state.current[flat] | state.landing[flat]
        state.current[flat] = state.landing[flat] = 0
        state.done[flat] += 1
        state.got[flat] = 0
        state.came[flat] = 0
        state.shift(first, barrier.ages, len(barrier.waiters) + len(barrier.issuers))

    # ---- accesses -----------------------------------------------------------------------------------------

    def touch(self, state: State, agent: int, op: TouchOp) -> None:
        """Access bytes: whoever was there before in conflict must be known to be done."""
        self.note(state, "touch")
        plain = proxy = 0
        for part in op.parts:
            spread = self.spread(state, agent, part)
            plain, proxy = plain | spread.plain, proxy | spread.proxy
            state.written |= spread.writes
        state.forget(plain | proxy)
        self.made(plain | proxy)
        if op.engine is None:
            state.known[agent] |= plain
            return
        queue = state.queues[agent][op.engine]
        queue.groups.append(Group(plain, queue.proof))
        queue.proof = 0
        if len(queue.groups) > self.code.agents[agent].kept[op.engine] + 1:
            # Every drain proves both of the two oldest, so they are one.
            oldest = queue.groups.pop(0)
            queue.groups[0].facts |= oldest.facts
            queue.groups[0].proof |= oldest.proof

    def spread(self, state: State, agent: int, part: Part) -> Spread:
        """Return what an item does at its stage, after checking it."""
        stage = 0
        if part.cursor is not None and len(part.spreads) > 1:
            stage = (state.cursors[agent][part.cursor] - part.back) % len(part.spreads)
        spread = part.spreads[stage]
        unknown = spread.need & ~state.known[agent]
        if unknown:
            self.trouble("race", bits=unknown)
        if spread.fresh & ~state.written:
            self.trouble("unwritten", bits=spread.fresh & ~state.written)
        return spread

    def load(self, state: State, agent: int, op: LoadOp) -> None:
        """Issue a load: it lands at any later time, and each phase it arrives for waits for it."""
        past = state.known[agent]
        for index, column, part, weight in op.targets:
            barrier = self.barriers[index]
            cursor = state.cursors[agent][part.cursor] - part.back if part.cursor is not None else 0
            stage, phase = cursor % barrier.stages, cursor // barrier.stages
            flat = barrier.flat + stage
            self.note(state, "load", index, stage, phase)
            spread = self.spread(state, agent, part)
            fits = state.got[flat] + weight <= barrier.count
            if not fits or not self.in_window(state, past, barrier, stage, phase):
                self.trouble("arrive", index, stage, phase, stop=True)
                return
            state.written |= spread.writes
            bit = 1 << barrier.first + stage * barrier.stride + column
            state.forget(spread.plain | bit)
            self.made(spread.plain | bit)
            state.came[flat] |= 1 << column
            if weight:
                state.current[flat] |= past | spread.plain | bit
                self.count(state, index, stage, weight)
            else:
                state.landing[flat] |= past | spread.plain | bit
                issue = barrier.issuers[agent]
                issued = 1 << barrier.first + stage * barrier.stride + 3 * barrier.ages
                issued <<= len(barrier.waiters) + issue
                state.forget(issued)
                self.made(issued)
                state.known[agent] |= issued
                past |= issued
            if self.stopped:
                return

    def drained(self, state: State, agent: int, op: DrainOp) -> None:
        """Learn that all groups of an engine but the youngest are done."""
        queue = state.queues[agent][op.engine]
        proved = len(queue.groups) - op.keep
        for group in queue.groups[: max(0, proved)]:
            state.known[agent] |= group.facts | group.proof
        if proved > 0:
            del queue.groups[:proved]

    # ---- notes --------------------------------------------------------------------------------------------

    def trouble(
        self,
        kind: Kind,
        barrier: int | None = None,
        stage: int | None = None,
        phase: int | None = None,
        bits: int = 0,
        stop: bool = False,
    ) -> None:
        """Note what went wrong."""
        self.troubles.append(Trouble(kind, self.agent, self.at, barrier, stage, phase, bits))
        self.stopped |= stop

    def note(
        self, state: State, what: str, barrier: int | None = None, stage: int = 0, phase: int = 0
    ) -> None:
        """Tell the recorder."""
        if self.recorder is not None:
            self.recorder.step(state, self.agent, what, barrier, stage, phase)

    def made(self, bits: int) -> None:
        """Tell the recorder which facts the step made."""
        if self.recorder is not None:
            self.recorder.made(bits)
