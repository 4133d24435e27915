"""Conditions on the round of a loop that repeat from some round on.

An integer made of the round's number `i` and constants is followed as `head`, `period`, `slope`: from round
`head` on its value at `i + period` is its value at `i` plus `slope`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import gcd, lcm

from tsc.expr import EvalError, Expr, evaluate
from tsc.expr.tree import Binary, Bool, Call, Choice, Compare, Int, Logic, Node, Ref, Unary

MOST_ROUNDS = 64


class _Irregular(Exception):
    """The value does not repeat, or only after too long a time."""


@dataclass(frozen=True, slots=True)
class _Course:
    head: int
    period: int
    slope: int


def rounds_of(condition: Node, name: str) -> tuple[list[bool], list[bool]] | None:
    """Return in which rounds a condition holds: in the first ones, and then in cycles for ever.

    `name` is that of the number of the round, the only name that occurs. None where the condition does not
    repeat, only after more than `MOST_ROUNDS` rounds, or has no value in some round.
    """
    try:
        course = _Follower(name).truth(condition)
        if course.head > MOST_ROUNDS or course.period > MOST_ROUNDS:
            return None
        values = [bool(_value(condition, name, i)) for i in range(course.head + course.period)]
    except (_Irregular, EvalError):
        return None
    return values[: course.head], values[course.head :]


def _value(node: Node, name: str, round_: int) -> int:
    return int(evaluate(Expr("", node, ()), {name: round_}))


class _Follower:
    def __init__(self, name: str) -> None:
        self.name = name

    def integer(self, node: Node) -> _Course:
        match node:
            case Int() | Bool():
                return _Course(0, 1, 0)
            case Ref(name=name) if name == self.name:
                return _Course(0, 1, 1)
            case Unary(op="-", operand=operand):
                inner = self.integer(operand)
                return _Course(inner.head, inner.period, -inner.slope)
            case Unary(op="+", operand=operand):
                return self.integer(operand)
            case Unary() | Compare() | Logic():
                return self.truth(node)
            case Binary(op="+" | "-" as op, left=left, right=right):
                a, b = self.aligned(left, right)
                return _Course(a.head, a.period, a.slope + b.slope if op == "+" else a.slope - b.slope)
            case Binary(op="*", left=left, right=right):
                return self.product(left, right)
            case Binary(op=op, left=left, right=right):
                return self.quotient(left, right, whole=op == "//")
            case Call(function="cdiv", args=(left, right)):
                return self.quotient(left, right, whole=True)
            case Call(function="align", args=(left, right)):
                quotient = self.quotient(left, right, whole=True)
                return _Course(quotient.head, quotient.period, quotient.slope * self.constant(right))
            case Call(function="abs", args=(arg,)):
                return self.chosen("max", arg, Unary("-", arg))
            case Call(function="min" | "max" as function, args=args):
                rest = args[1] if len(args) == 2 else Call(function, args[1:])
                return self.chosen(function, args[0], rest)
            case Choice(test=test, then=then, other=other):
                return self.choice(test, then, other)
        raise _Irregular

    def aligned(self, left: Node, right: Node) -> tuple[_Course, _Course]:
        """Follow two numbers over one head and one period."""
        a, b = self.integer(left), self.integer(right)
        head, period = max(a.head, b.head), self.period(a.period, b.period)
        return (
            _Course(head, period, a.slope * (period // a.period)),
            _Course(head, period, b.slope * (period // b.period)),
        )

    def period(self, *periods: int) -> int:
        common = lcm(*periods)
        if common > MOST_ROUNDS:
            raise _Irregular
        return common

    def constant(self, node: Node) -> int:
        course = self.integer(node)
        if course != _Course(0, 1, 0):
            raise _Irregular
        return _value(node, self.name, 0)

    def product(self, left: Node, right: Node) -> _Course:
        a, b = self.aligned(left, right)
        if a.slope == b.slope == 0:
            return a
        if a.slope and b.slope:
            raise _Irregular
        course, factor = (a, right) if a.slope else (b, left)
        return _Course(course.head, course.period, course.slope * self.constant(factor))

    def quotient(self, left: Node, right: Node, whole: bool) -> _Course:
        course, divisor = self.integer(left), abs(self.constant(right))
        if divisor == 0:
            raise _Irregular
        times = divisor // gcd(course.slope, divisor)
        period = self.period(course.period * times)
        slope = course.slope * times // self.constant(right) if whole else 0
        return _Course(course.head, period, slope)

    def chosen(self, function: str, left: Node, right: Node) -> _Course:
        """Follow the smaller or larger of two numbers, which from some round on is always the same one."""
        a, b = self.aligned(left, right)
        if a.slope == b.slope:
            return a
        head, above = self.apart(left, right, a, b)
        return _Course(head, a.period, (a if above == (function == "max") else b).slope)

    def apart(self, left: Node, right: Node, a: _Course, b: _Course) -> tuple[int, bool]:
        """Return from which round on one of two numbers stays above, and whether the left does."""
        drift = a.slope - b.slope
        sign = 1 if drift > 0 else -1
        least = min(
            sign * (_value(left, self.name, i) - _value(right, self.name, i))
            for i in range(a.head, a.head + a.period)
        )
        rounds = 0 if least > 0 else -least // abs(drift) + 1
        return a.head + rounds * a.period, drift > 0

    def choice(self, test: Node, then: Node, other: Node) -> _Course:
        decided = self.truth(test)
        a, b = self.aligned(then, other)
        head, period = max(decided.head, a.head), self.period(decided.period, a.period)
        taken = {bool(_value(test, self.name, i)) for i in range(head, head + period)}
        slopes = {(a if side else b).slope for side in taken}
        if len(slopes) > 1:
            raise _Irregular
        return _Course(head, period, slopes.pop() * (period // a.period))

    def truth(self, node: Node) -> _Course:
        """Follow a condition; the slope is zero."""
        match node:
            case Unary(op="not", operand=operand):
                return self.truth(operand)
            case Logic(operands=operands):
                parts = [self.truth(operand) for operand in operands]
                return _Course(
                    max(part.head for part in parts), self.period(*(part.period for part in parts)), 0
                )
            case Compare(operands=operands):
                head, periods = 0, [1]
                for left, right in pairwise(operands):
                    a, b = self.aligned(left, right)
                    if a.slope != b.slope:
                        head = max(head, self.apart(left, right, a, b)[0])
                    head, periods = max(head, a.head), [*periods, a.period]
                return _Course(head, self.period(*periods), 0)
            case Bool():
                return _Course(0, 1, 0)
            case _:
                return self.truth(Compare(("!=",), (node, Int(0))))
