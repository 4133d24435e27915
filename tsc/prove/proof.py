"""Proves a system for all answers to its questions, or finds a run in which something goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from tsc.prove.code import Code, compile_system
from tsc.prove.decisions import Decisions
from tsc.prove.machine import System
from tsc.prove.notes import Trouble
from tsc.prove.ops import EndOp
from tsc.prove.record import Recording, alarm_of
from tsc.prove.relative import Ignorance, covers, relative
from tsc.prove.run import Runner, TooLong
from tsc.prove.state import State
from tsc.prove.verdict import Alarm, Answer, Coordinates, Event, Oracle, Outcome, Verdict

BUDGET = 2_000
"""States that a proof looks at unless told otherwise."""

# After the first alarm so many states more: bad schedules close slowly, and one reason is enough.
_AFTER_ALARM = 50
# Steps of all runs together, a state of the budget.
_STEPS = 2_000
_LEAST_STEPS = 400_000


def prove(system: System, budget: int = BUDGET) -> Verdict:
    """Return the verdict on all runs of a system, looking at `budget` states at most."""
    code = compile_system(system)
    search = _Search(code, budget)
    reason, up_to = search.run(), None
    states, steps = search.states, search.runner.steps
    if search.doubtful and not search.alarms and not reason:
        # Only runs in which a number changes from tile to tile go wrong: keep it, and see how far that goes.
        up_to = code.far
        search = _Search(code, max(1, budget - states), up_to)
        reason = search.run()
        states, steps = states + search.states, steps + search.runner.steps
    alarms = tuple(search.alarms.values())
    outcome: Outcome = "refuted" if alarms else "unproven" if reason else "bounded" if up_to else "proved"
    return Verdict(outcome, alarms, states, steps, reason, up_to if outcome == "bounded" else None)


def check_run(system: System, oracle: Oracle, most_steps: int = 100_000) -> tuple[Alarm, ...]:
    """Return what goes wrong in the run with fixed answers. Raises `TooLong` beyond so many steps."""
    code = compile_system(system)
    recording = Recording(code)
    runner = Runner(code, Decisions(code, oracle), most_steps, recording)
    state = State(code)
    runner.drain(state)
    troubles = runner.troubles if runner.stopped else [*runner.troubles, *ending(code, state)]
    return tuple(alarm_of(code, state, trouble, recording, ()) for trouble in troubles)


def record(system: System, alarm: Alarm) -> tuple[Event, ...]:
    """Return the run that leads to an alarm, step by step, in an order that is possible."""
    code = compile_system(system)
    return _replay(code, alarm.trail, alarm.cap)[2].events


def ending(code: Code, state: State) -> Iterator[Trouble]:
    """Yield what is wrong with a state in which nobody can go on."""
    stuck = [
        agent for agent, one in enumerate(code.agents) if not isinstance(one.ops[state.at[agent]], EndOp)
    ]
    if stuck:
        yield Trouble("deadlock", stuck[0], state.at[stuck[0]])
        return
    for taker in code.system.takers:
        barrier = code.layout.barriers[taker.barrier]
        cursor = code.agents[taker.agent].agent.cursors[taker.cursor]
        taken = state.cursors[taker.agent][taker.cursor]
        for stage in range(barrier.stages):
            for phase in range(state.done[barrier.flat + stage]):
                fill = phase * barrier.stages + stage
                if fill >= taken and (fill - cursor.start) % cursor.stride == 0:
                    yield Trouble("leftover", taker.agent, state.at[taker.agent], taker.barrier, stage, phase)
                    return


class _Search:
    """States that are not covered by others, and the alarms met on the way."""

    def __init__(self, code: Code, budget: int, cap: int | None = None) -> None:
        self.code, self.budget, self.cap = code, budget, cap
        self.decisions = Decisions(code, cap=cap)
        self.runner = Runner(code, self.decisions, max(_LEAST_STEPS, _STEPS * budget))
        self.states = 0
        self.alarms: dict[Hashable, Alarm] = {}
        self.doubtful = False  # an alarm was met whose answers contradict each other
        self.seen: dict[Hashable, list[Ignorance]] = {}

    def run(self) -> str:
        """Look at states until none is left; return why it was given up, if it was."""
        work = deque([State(self.code)])
        while work:
            state = work.popleft()
            try:
                questions = self.runner.drain(state)
            except TooLong:
                return f"more than {self.runner.most_steps:,} steps"
            self.alarm(state, self.runner.troubles)
            if self.runner.stopped:
                continue
            if not questions:
                self.alarm(state, ending(self.code, state))
                continue
            if not self.decisions.let_go(state):
                return "tasks that run ahead of each other without bound"
            if not self.new(state):
                continue
            self.states += 1
            if self.states >= self.budget:
                return f"more than {self.budget:,} states"
            question = min(questions, key=lambda one: one.pace)
            for value in (False, True):
                following = state.copy()
                self.decisions.decide(following, question, value)
                following.trail = (state.trail, question.answer(value))  # type: ignore[assignment]
                work.append(following)
        return ""

    def new(self, state: State) -> bool:
        """Keep a state unless a known one stands for it."""
        control, ignorance = relative(self.code, self.decisions, state)
        known = self.seen.setdefault(control, [])
        if any(covers(one, ignorance) for one in known):
            return False
        known[:] = [one for one in known if not covers(ignorance, one)]
        known.append(ignorance)
        return True

    def alarm(self, state: State, troubles: Iterator[Trouble] | list[Trouble]) -> None:
        """Keep one alarm of each kind at each step."""
        for trouble in troubles:
            key = (trouble.kind, trouble.agent, trouble.at, trouble.bits if trouble.kind == "race" else 0)
            if key in self.alarms:
                continue
            trail = _trail(state)
            if not _agree(self.code, trail):
                self.doubtful = True
                continue
            if not self.alarms:
                self.budget = min(self.budget, self.states + _AFTER_ALARM)
            replayed, found, recording = _replay(self.code, trail, self.cap)
            same = next((t for t in found if t == trouble), trouble)
            self.alarms[key] = alarm_of(self.code, replayed, same, recording, trail, self.cap)


def _trail(state: State) -> tuple[Answer, ...]:
    answers: list[Answer] = []
    trail = state.trail
    while trail is not None:
        trail, answer = trail  # type: ignore[assignment]
        answers.append(answer)
    return tuple(reversed(answers))


def _agree(code: Code, trail: tuple[Answer, ...]) -> bool:
    """Return whether a number that is the same in all tiles, or all rounds, was answered as one."""
    ranges: dict[tuple[int, Coordinates], tuple[int | None, int | None]] = {}
    for answer in trail:
        if answer.threshold is None:
            continue
        number = code.system.numbers[answer.index]
        key = answer.index, answer.at[: number.depth]
        lo, hi = ranges.get(key, (number.lo, number.hi))
        if answer.value:
            lo = answer.threshold + 1 if lo is None else max(lo, answer.threshold + 1)
        else:
            hi = answer.threshold if hi is None else min(hi, answer.threshold)
        if lo is not None and hi is not None and lo > hi:
            return False
        ranges[key] = lo, hi
    return True


def _replay(
    code: Code, trail: tuple[Answer, ...], cap: int | None = None
) -> tuple[State, list[Trouble], Recording]:
    """Run again as the search did, with everything noted."""
    decisions, recording = Decisions(code, cap=cap), Recording(code)
    runner = Runner(code, decisions, 1 << 62, recording)
    state = State(code)
    questions = runner.drain(state)
    for answer in trail:
        if runner.stopped or not questions:
            break
        decisions.let_go(state)
        relative(code, decisions, state)
        question = min(questions, key=lambda one: one.pace)
        decisions.decide(state, question, answer.value)
        questions = runner.drain(state)
    return state, runner.troubles, recording
