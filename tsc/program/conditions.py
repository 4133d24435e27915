"""Which conditions hold on a path: by the round of the loop, by ranges, by what was decided before."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tsc.expr import EvalError, Expr, ExprError, Interval, evaluate, fold, interval, parse, provably, show
from tsc.expr.tree import Index, Node, children
from tsc.program.model import Program
from tsc.program.tree import Guard, Loop

# A task that asks more questions than this gets no more answers, and no question is put under more
# assumptions than this: unknown is always right.
MOST_QUESTIONS = 100
MOST_ASSUMED = 3


@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition that has been decided on this path.

    `names` are those on which it depends, `loop` the identity of the loop whose `iter` and `trips` it means
    (0: none). `expr` is the condition itself, where it has a form.
    """

    key: str
    value: bool
    names: frozenset[str]
    loop: int
    expr: Expr | None


@dataclass(frozen=True, slots=True)
class Question:
    """A condition as it is asked: its key among assumptions, and what it depends on."""

    key: str
    expr: Expr | None
    names: frozenset[str]
    loop: int


class Round:
    """A round of a loop, or those from `number` on if not `exact`; `outer` is that of the loop around."""

    def __init__(
        self, program: Program, node: Loop, number: int, last: bool, exact: bool, outer: Round | None
    ) -> None:
        self.program, self.node, self.outer = program, node, outer
        self.number, self.last, self.exact = number, last, exact
        self.first = number == 0

    @property
    def loop(self) -> int:
        """The identity of the loop."""
        return id(self.node)

    @cached_property
    def _bounds(self) -> tuple[Expr, Expr, int]:
        node = self.node
        start, end, step = (self.program.flat(e, node.env) for e in (node.start, node.end, node.step))
        return start, end, int(step.value) if step.value is not None else 0

    @cached_property
    def facts(self) -> tuple[Expr, ...]:
        """What holds in this round: of `iter` and `trips` of this loop, and of the values of all loops."""
        start, end, step = self._bounds
        texts = [f"iter {'==' if self.exact else '>='} {self.number}", "trips >= 1"]
        texts.append("iter == trips - 1" if self.last else "iter < trips - 1")
        if step:
            texts.append(f"{self.node.variable} == ({start.text}) + iter * ({step})")
            length = f"({end.text}) - ({start.text})" if step > 0 else f"({start.text}) - ({end.text})"
            texts.append(f"trips == cdiv({length}, {abs(step)})")
        return (*parsed(*texts), *self.lasting)

    @cached_property
    def lasting(self) -> tuple[Expr, ...]:
        """What holds of the values of this loop and those around it, in loops inside it too."""
        start, end, step = self._bounds
        texts = []
        if step:
            value, below = self.node.variable, "<" if step > 0 else ">"
            texts.append(f"{value} {below} ({end.text})")
            texts.append(
                f"({start.text}) + ({step * self.number}) {'==' if self.exact else below + '='} {value}"
            )
            if not self.last:
                texts.append(f"{value} + ({step}) {below} ({end.text})")
            elif abs(step) == 1:
                texts.append(f"{value} + ({step}) == ({end.text})")
        return (*parsed(*texts), *(self.outer.lasting if self.outer is not None else ()))


def parsed(*texts: str) -> list[Expr]:
    """Read expressions made of others; one that is too long or too deep is left out."""
    found = []
    for text in texts:
        with suppress(ExprError):
            found.append(parse(text))
    return found


class Conditions:
    """Asks and answers for one task; answers are kept."""

    def __init__(self, program: Program) -> None:
        """Begin with nothing asked."""
        self.program = program
        self.asked = 0
        self._answers: dict[tuple[object, ...], bool | None] = {}
        self._questions: dict[tuple[int, int], Question] = {}
        self._rounds: dict[tuple[int, int, bool, bool, int], Round] = {}
        self._trips: dict[int, Interval] = {}
        self._kept: list[object] = []  # what is known by its identity stays alive

    def round(self, node: Loop, number: int, last: bool, exact: bool, outer: Round | None) -> Round:
        """Return the round; equal rounds are one object."""
        key = (id(node), number, last, exact, id(outer))
        if key not in self._rounds:
            self._rounds[key] = Round(self.program, node, number, last, exact, outer)
            self._kept.append((node, outer))
        return self._rounds[key]

    def of_guard(self, node: Guard, now: Round | None) -> Question:
        """Return what a `when` asks."""
        known = (id(node), now.loop if now is not None else 0)
        if known not in self._questions:
            flat = self.program.flat(node.condition, node.env) if node.condition is not None else parse(True)
            question = _question(flat, known[1])
            if node.key is not None:
                # What a key names is the same everywhere in one round; beyond that nothing is promised.
                question = Question(f"key {node.key}", flat, question.names | {"loop", "iter"}, -1)
            self._questions[known] = question
            self._kept.append(node)
        return self._questions[known]

    def of_loop(self, node: Loop, now: Round | None) -> Question:
        """Return what a loop asks when it begins: whether it has a round."""
        known = (id(node), now.loop if now is not None else 0)
        if known not in self._questions:
            self._questions[known] = self._of_loop(node, known[1])
            self._kept.append(node)
        return self._questions[known]

    def _of_loop(self, node: Loop, loop: int) -> Question:
        start, end, step = (self.program.flat(e, node.env) for e in (node.start, node.end, node.step))
        names = frozenset(name.text for e in (start, end, step) for name in e.names)
        if node.key is not None:
            return Question(f"key {node.key}", None, names | {"loop", "iter"}, -1)
        rising = interval(step, self.program.ranges)
        below = "<" if rising.lo > 0 else ">"
        if rising.lo > 0 or rising.hi < 0:
            for expr in parsed(f"({start.text}) {below} ({end.text})"):
                return _question(expr, loop)
        return Question(
            f"trips {start.text}, {end.text}, {step.text}", None, names, loop if names & _OF_LOOP else 0
        )

    def trips(self, node: Loop) -> Interval:
        """Bound the number of rounds of a loop."""
        if id(node) not in self._trips:
            self._trips[id(node)] = self._bound(node)
            self._kept.append(node)
        return self._trips[id(node)]

    def _bound(self, node: Loop) -> Interval:
        count = static_trips(self.program, node)
        if count is not None:
            return Interval(count, count)
        for expr in self._length(node):
            if {name.text for name in expr.names} <= self.program.ranges.keys():
                found = interval(expr, self.program.ranges)
                return Interval(max(0, found.lo), max(0, found.hi))
        return Interval(0, 2**63 - 1)

    def _length(self, node: Loop) -> list[Expr]:
        """Return the number of rounds as an expression, which is negative for a loop of none."""
        start, end, step = (self.program.flat(e, node.env) for e in (node.start, node.end, node.step))
        if not isinstance(step.value, int) or not step.value:
            return []
        length = f"({end.text}) - ({start.text})" if step.value > 0 else f"({start.text}) - ({end.text})"
        return parsed(f"cdiv({length}, {abs(step.value)})")

    def rounds(self, node: Loop, rest: int, period: int) -> Assumption | None:
        """Return what is known behind a loop whose rounds leave `rest` when divided by `period`."""
        for length in self._length(node):
            for expr in parsed(f"({length.text}) % {period} == {rest}"):
                names = frozenset(name.text for name in expr.names)
                return Assumption(rounds_key(node), True, names, 0, expr)
        return None

    def answer(self, question: Question, now: Round | None, assumed: frozenset[Assumption]) -> bool | None:
        """Decide a condition in a round under assumptions, or say that it is not known."""
        for one in assumed:
            if one.key == question.key:
                return one.value
        if question.expr is None:
            return None
        loop = now.loop if now is not None else 0
        found = [
            one
            for one in assumed
            if one.expr is not None and one.names & question.names and one.loop in (0, -1, loop)
        ]
        if len(found) > MOST_ASSUMED:
            found = sorted(found, key=lambda one: (len(one.names ^ question.names), one.key))[:MOST_ASSUMED]
        related = frozenset(found)
        key = (question.key, question.expr, id(now), related)
        if key not in self._answers:
            self._answers[key] = self._prove(question.expr, now, related)
        return self._answers[key]

    def _prove(self, expr: Expr, now: Round | None, related: frozenset[Assumption]) -> bool | None:
        if expr.value is not None:
            return bool(expr.value)
        facts = list(now.facts) if now is not None else []
        for one in related:
            if one.expr is not None:
                facts += [one.expr] if one.value else parsed(f"not ({one.expr.text})")
        names = {name.text for name in expr.names}
        grown = True
        while grown:
            near = {name.text for fact in facts for name in fact.names if _names(fact) & names}
            grown = not near <= names
            names |= near
        elements = _elements(expr)
        if elements and not any(elements & _elements(fact) for fact in facts):
            return None  # nothing is known of what a tensor holds there
        self.asked += 1
        if self.asked > MOST_QUESTIONS:
            return None
        return provably(expr, self.program.ranges, [fact for fact in facts if _names(fact) & names])


@lru_cache(maxsize=4096)
def _elements(expr: Expr) -> frozenset[Node]:
    """Return the elements of tensors that an expression reads."""
    found, left = set(), [expr.tree]
    while left:
        node = left.pop()
        left.extend(children(node))
        if isinstance(node, Index):
            found.add(node)
    return frozenset(found)


def rounds_key(node: Loop) -> str:
    """Return the key of what is known of the number of rounds that a loop had."""
    return f"rounds of {id(node)}"


_OF_LOOP = frozenset(("iter", "trips"))


def _names(expr: Expr) -> set[str]:
    return {name.text for name in expr.names}


def _question(flat: Expr, loop: int) -> Question:
    names = frozenset(name.text for name in flat.names)
    meant = loop if names & _OF_LOOP else 0
    return Question(f"{show(flat)} @{meant}" if meant else show(flat), flat, names, meant)


def static_trips(program: Program, node: Loop) -> int | None:
    """Return how many rounds a loop makes, where that is known when built."""
    values = _static(program, (node.start, node.end, node.step), node.env)
    if values is None or values[2] == 0:
        return None
    start, end, step = values
    return max(0, -((start - end) // step) if step > 0 else -((end - start) // -step))


def static_cuts(program: Program, node: Loop) -> list[int] | None:
    """Return the first round behind each cut of a split loop, where that is known when built."""
    cuts = [piece.until for piece in node.pieces if piece.until is not None]
    values = _static(program, (node.start, node.step, *cuts), node.env)
    if values is None or values[1] == 0:
        return None
    (start, step, *ends), rounds, most = values, [], 0
    for end in ends:
        most = max(most, -((start - end) // step) if step > 0 else -((end - start) // -step))
        rounds.append(most)
    return rounds


def _static(program: Program, exprs: tuple[Expr, ...], env: Mapping[str, int | bool]) -> list[int] | None:
    flat = [program.flat(expr, env) for expr in exprs]
    if any(expr.names for expr in flat):
        return None
    try:
        return [int(evaluate(fold(expr, {}), {})) for expr in flat]
    except EvalError:
        return None
