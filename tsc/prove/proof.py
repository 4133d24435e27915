"""Proves a system for all answers to its questions, or finds a run in which something goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from itertools import product

from tsc.prove.code import Code, compile_system
from tsc.prove.decisions import Decisions, Unbounded
from tsc.prove.machine import Number, System
from tsc.prove.notes import Trouble
from tsc.prove.ops import EndOp
from tsc.prove.parts import parts
from tsc.prove.record import Recording, alarm_of
from tsc.prove.relative import Ignorance, covers, relative
from tsc.prove.run import Runner, TooLong
from tsc.prove.state import State
from tsc.prove.verdict import BUDGET, OUTSIDE, Alarm, Answer, Coordinates, Event, Oracle, Outcome, Verdict

Possible = Callable[[tuple[Answer, ...]], bool]
"""Says whether answers can all be true."""

# So many states before numbers that tiles share are taken one value after the other.
_FIRST = 60
_WORST: tuple[Outcome, ...] = ("refuted", "unproven", "bounded", "proved")
DOUBT = "an alarm whose conditions contradict each other"
"""The reason of a proof that ends in doubt."""

# After the first alarm so many states more: bad schedules close slowly, and one reason is enough.
_AFTER_ALARM = 50
# Steps of all runs together, a state of the budget.
_STEPS = 200
# A state with so many stages of barriers costs as much as two small ones.
_STAGES = 50
_LEAST_STEPS = 20_000


def prove(system: System, budget: int = BUDGET, possible: Possible | None = None) -> Verdict:
    """Return the verdict on all runs of a system, looking at `budget` states at most.

    `possible` says of the answers that lead to an alarm whether they can all be true.
    """
    verdicts: list[Verdict] = []
    for part in parts(system):
        left = max(1, budget - sum(verdict.states for verdict in verdicts))
        verdicts.append(_prove(part, left, possible))
    worst = min(verdicts, key=lambda one: _WORST.index(one.outcome), default=Verdict("proved", (), 0, 0))
    states, steps = (sum(getattr(one, name) for one in verdicts) for name in ("states", "steps"))
    alarms = tuple(alarm for verdict in verdicts for alarm in verdict.alarms)
    return replace(worst, alarms=alarms, states=states, steps=steps)


def _prove(system: System, budget: int, possible: Possible | None) -> Verdict:
    code = compile_system(system)
    shared = _shared(code)
    first = _Search(code, min(budget, _FIRST) if shared else budget, possible)
    first.run()
    if first.alarms or not (shared and (first.reason or first.doubtful)):
        return _verdict([first])
    # Numbers that tiles share are asked afresh in each. That is more than there is, and may be too much: take
    # them one value after the other, and all large ones as before.
    searches, many = [first], max(ring.stages for ring in system.rings) + 2 if system.rings else 2
    for choice in product(*(_choices(system.numbers[number], number, many) for number in shared)):
        taken = [answer for answers in choice for answer in answers]
        spent = sum(search.states * search.cost for search in searches)
        search = _Search(compile_system(_fixed(system, taken)), max(1, budget - spent), possible, taken)
        search.run()
        searches.append(search)
        if search.alarms or search.reason:
            break
    return _verdict(searches, many - 1)


def _shared(code: Code) -> tuple[int, ...]:
    """Return the numbers that tiles or rounds share and that are asked afresh in each; two at most."""
    sites = [site for one in code.agents for site in one.sites if site.number]
    # Outside of tiles there is one tile only.
    in_tiles = {site.index for site in sites if site.loops[0] >= 0}
    found = dict.fromkeys(
        site.index
        for site in sites
        if code.system.numbers[site.index].depth <= (site.index not in in_tiles)
        and max(site.loops[: site.depth], default=OUTSIDE) >= 0
    )
    return tuple(found)[:2]


def _choices(number: Number, index: int, many: int) -> Iterator[tuple[Answer, ...]]:
    """Yield the answers that give a number each small value, and those that leave it large."""
    lo = number.lo if number.lo is not None else 0
    if number.lo is None:
        yield (Answer(index, (), -1, False),)
    for value in range(lo, many):
        if number.hi is None or value <= number.hi:
            yield Answer(index, (), value - 1, True), Answer(index, (), value, False)
    if number.hi is None or number.hi >= many:
        yield (Answer(index, (), max(lo, many) - 1, True),)


def _fixed(system: System, taken: Iterable[Answer]) -> System:
    """Return a system in which answers about numbers are known from the start."""
    numbers = list(system.numbers)
    for answer in taken:
        number, threshold = numbers[answer.index], answer.threshold or 0
        if answer.value:
            lo = threshold + 1 if number.lo is None else max(number.lo, threshold + 1)
            numbers[answer.index] = replace(number, lo=lo)
        else:
            hi = threshold if number.hi is None else min(number.hi, threshold)
            numbers[answer.index] = replace(number, hi=hi)
    return replace(system, numbers=tuple(numbers))


def _verdict(searches: list[_Search], up_to: int | None = None) -> Verdict:
    """Return what searches say: of several, the first was not enough, and the last has all numbers large."""
    states = sum(search.states for search in searches)
    steps = sum(search.runner.steps for search in searches)
    last, rest = searches[-1], searches[1:]
    alarms = tuple(last.alarms.values())
    if alarms:
        return Verdict("refuted", alarms, states, steps)
    if last.reason:
        return Verdict("unproven", (), states, steps, last.reason)
    if any(search.doubtful for search in rest[:-1]) or (last.doubtful and not rest):
        return Verdict("unproven", (), states, steps, DOUBT)
    if last.doubtful:
        return Verdict("bounded", (), states, steps, up_to=up_to)
    return Verdict("proved", (), states, steps)


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
    taken, answers = alarm.trail[: alarm.taken], alarm.trail[alarm.taken :]
    return _replay(compile_system(_fixed(system, taken)), answers)[2].events


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

    def __init__(
        self, code: Code, budget: int, possible: Possible | None, taken: Iterable[Answer] = ()
    ) -> None:
        self.code, self.budget, self.possible, self.taken = code, budget, possible, tuple(taken)
        self.decisions = Decisions(code)
        self.cost = 1 + code.layout.flats // _STAGES
        self.runner = Runner(code, self.decisions, max(_STEPS * budget // self.cost, _LEAST_STEPS))
        self.states = 0
        self.reason = ""  # why it was given up, if it was
        self.alarms: dict[Hashable, Alarm] = {}
        self.doubtful = False  # an alarm was met whose answers contradict each other
        self.seen: dict[Hashable, list[Ignorance]] = {}

    def run(self) -> None:
        """Look at states until none is left, or too many were seen."""
        try:
            self.search()
        except TooLong:
            self.reason = f"more than {self.runner.most_steps:,} steps"
        except Unbounded:
            self.reason = "tasks that run ahead of each other without bound"

    def search(self) -> None:
        """Look at states until none is left."""
        work = deque([State(self.code)])
        while work:
            state = work.popleft()
            questions = self.runner.drain(state)
            self.alarm(state, self.runner.troubles)
            if self.runner.stopped:
                continue
            if not questions:
                self.alarm(state, ending(self.code, state))
                continue
            if not self.new(state):
                continue
            self.states += 1
            if self.states * self.cost >= self.budget:
                each = f", where each counts as {self.cost:,} for its many stages" if self.cost > 1 else ""
                self.reason = f"more than {self.budget:,} states{each}"
                return
            question = min(questions, key=lambda one: one.pace)
            for value in (False, True):
                following = state.copy()
                self.decisions.decide(following, question, value)
                following.trail = (state.trail, question.answer(value))
                work.append(following)

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
            told = (*self.taken, *trail)
            if not _agree(self.code, told) or (self.possible is not None and not self.possible(told)):
                self.doubtful = True
                continue
            if not self.alarms:
                self.budget = min(self.budget, (self.states + _AFTER_ALARM) * self.cost)
            replayed, found, recording = _replay(self.code, trail)
            same = next((t for t in found if t == trouble), trouble)
            self.alarms[key] = alarm_of(self.code, replayed, same, recording, told, len(self.taken))


def _trail(state: State) -> tuple[Answer, ...]:
    answers: list[Answer] = []
    trail = state.trail
    while trail is not None:
        trail, answer = trail
        answers.append(answer)
    return tuple(reversed(answers))


def _agree(code: Code, trail: tuple[Answer, ...]) -> bool:
    """Return whether whatever is the same in all tiles, or for all who ask, was answered as one."""
    ranges: dict[tuple[int, Coordinates], tuple[int | None, int | None]] = {}
    facts: dict[tuple[int, Coordinates], bool] = {}
    for answer in trail:
        if answer.threshold is None:
            if facts.setdefault((answer.index, answer.at), answer.value) != answer.value:
                return False
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


def _replay(code: Code, trail: tuple[Answer, ...]) -> tuple[State, list[Trouble], Recording]:
    """Run again as the search did, with everything noted."""
    decisions, recording = Decisions(code), Recording(code)
    runner = Runner(code, decisions, 1 << 62, recording)
    state = State(code)
    questions = runner.drain(state)
    for answer in trail:
        if runner.stopped or not questions:
            break
        relative(code, decisions, state)
        question = min(questions, key=lambda one: one.pace)
        decisions.decide(state, question, answer.value)
        questions = runner.drain(state)
    return state, runner.troubles, recording
