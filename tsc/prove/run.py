"""Runs agents as far as no question stops them, with ideal counters, and checks every window and access.

Between two questions no choice matters (`docs/proof.md`, "One run is enough"): agents go in any order.
"""

from __future__ import annotations

from tsc.prove.accesses import Accesses
from tsc.prove.code import Code
from tsc.prove.decisions import Decisions, Question, Undecided, points_of, scaled
from tsc.prove.notes import Recorder
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
    TestOp,
    TouchOp,
    WaitOp,
)
from tsc.prove.state import OUTER, State


class TooLong(Exception):
    """More steps between two questions than the budget allows."""


class Runner(Accesses):
    """Runs states of one system."""

    def __init__(
        self, code: Code, decisions: Decisions, most_steps: int, recorder: Recorder | None = None
    ) -> None:
        super().__init__(code, recorder)
        self.decisions, self.most_steps, self.steps = decisions, most_steps, 0

    def drain(self, state: State) -> list[Question]:
        """Run every agent until it is blocked, done or at a question without an answer; return these.

        Raises `TooLong`, and `Unbounded` where agents have to be let go of again and again.
        """
        self.begin()
        while True:
            questions = self.exhaust(state)
            # Whoever is let go of asks again, by another stream.
            if self.over() or not self.decisions.let_go(state):
                return questions

    def exhaust(self, state: State) -> list[Question]:
        """Run every agent as far as answers go."""
        questions: dict[int, Question] = {}
        moved = True
        while moved:
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
                if self.over():
                    return []
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
                for above, plain in self.code.layout.fences[op.tensors].items():
                    state.known[agent] |= (state.known[agent] & plain) << above
            case EnterOp():
                frames = state.frames[agent]
                number, outer = op.bound.number, points_of(frames[: op.level])
                stream = 0 if number is None else state.streams[agent].get((number, outer), 0)
                if number is not None and self.decisions.oracle is None:
                    start, key = scaled(op.bound, op.start), (number, outer, stream)
                    stream = self.decisions.overtaken(state, agent, key, start, op.occurrence)
                del frames[op.level :]
                line = None if number is None else (number, op.bound.scale)
                frames.append((line, stream, op.start, 0))
            case TestOp():
                frames = state.frames[agent]
                if not self.decisions.exceeds(state, agent, op.bound, frames[op.level][2], op.level):
                    del frames[op.level :]
                    if op.level == 0:
                        frames.append(OUTER)
                    following = op.to
            case NextOp():
                line, stream, value, count = state.frames[agent][op.level]
                count += 1
                if count >= op.cap + op.period:
                    count -= op.period
                state.frames[agent][op.level] = (line, stream, value + op.step, count)
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
