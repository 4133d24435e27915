"""Bounds of expressions by interval arithmetic.

Bounds speak of the evaluations that do not fail: every step of such a one fits 64 bits, so its bounds do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tsc.expr.evaluator import cdiv, floor_div
from tsc.expr.tree import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    Expr,
    Index,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """The integers from `lo` to `hi`, both included; without limits, all of 64 bits."""

    lo: int = INT64_MIN
    hi: int = INT64_MAX

    def __post_init__(self) -> None:
        """Refuse an empty interval."""
        if self.lo > self.hi:
            raise ValueError(f"an interval from {self.lo} to {self.hi} is empty")

    def __contains__(self, value: int) -> bool:
        """Tell whether a value lies in it."""
        return self.lo <= value <= self.hi

    @property
    def fits_32(self) -> bool:
        """Whether every value fits a 32-bit signed integer."""
        return self.lo >= INT32_MIN and self.hi <= INT32_MAX

    def clamped(self) -> Interval:
        """Return the part that fits 64 bits, or the nearest such value."""
        if self.lo >= INT64_MIN and self.hi <= INT64_MAX:
            return self
        return Interval(_clamp(self.lo), _clamp(self.hi))

    def hull(self, other: Interval) -> Interval:
        """Return the least interval that holds both."""
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    def meet(self, other: Interval) -> Interval | None:
        """Return what lies in both, None if nothing does."""
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Interval(lo, hi) if lo <= hi else None


INT32 = Interval(INT32_MIN, INT32_MAX)
INT64 = Interval()
_BOOL = Interval(0, 1)
_INDEX = Interval(0, INT32_MAX - 1)  # an extent fits 32 bits

Ranges = Mapping[str, Interval]


def interval(expr: Expr, ranges: Ranges) -> Interval:
    """Return bounds of an expression for all values of its names in `ranges`.

    A name that is missing may be any 64-bit integer; a tensor's range is that of its elements.
    """
    return bounds(expr.tree, ranges)


def bounds(node: Node, ranges: Ranges, clamp: bool = True) -> Interval:
    """Return bounds of a node; without `clamp` it is taken over all integers, not over 64 bits."""
    match node:
        case Int(value=value) | Bool(value=value):
            return Interval(int(value), int(value))
        case Ref(name=name) | Index(name=name):
            return ranges.get(name, INT64).clamped()
        case Unary(op="not", operand=operand):
            inner = truth(operand, ranges, clamp)
            return Interval(1 - inner.hi, 1 - inner.lo)
        case Compare() | Logic():
            return truth(node, ranges, clamp)
        case Choice(test=test, then=then, other=other):
            taken = truth(test, ranges, clamp)
            branches = []
            if taken.hi == 1:
                branches.append(bounds(then, assume(ranges, test, True, clamp), clamp))
            if taken.lo == 0:
                branches.append(bounds(other, assume(ranges, test, False, clamp), clamp))
            return branches[0].hull(branches[-1])
        case Unary(op=op, operand=operand):
            inner = bounds(operand, ranges, clamp)
            result = Interval(-inner.hi, -inner.lo) if op == "-" else inner
        case Binary(op=op, left=left, right=right):
            result = of_binary(op, bounds(left, ranges, clamp), bounds(right, ranges, clamp))
        case Call(function="find"):
            result = _INDEX
        case Call(function=function, args=args):
            result = of_call(function, [bounds(arg, ranges, clamp) for arg in args])
    return result.clamped() if clamp else result


def of_binary(op: str, a: Interval, b: Interval) -> Interval:
    """Return bounds of `a op b` over all integers."""
    match op:
        case "+":
            return Interval(a.lo + b.lo, a.hi + b.hi)
        case "-":
            return Interval(a.lo - b.hi, a.hi - b.lo)
        case "*":
            corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
            return Interval(min(corners), max(corners))
        case "//":
            return _quotient(a, b, ceil=False)
        case _:
            return _remainder(a, b)


def of_call(function: str, args: list[Interval]) -> Interval:
    """Return bounds of a function's value over all integers; not of `find`."""
    match function:
        case "min":
            return Interval(min(arg.lo for arg in args), min(arg.hi for arg in args))
        case "max":
            return Interval(max(arg.lo for arg in args), max(arg.hi for arg in args))
        case "abs":
            a = args[0]
            least = 0 if 0 in a else min(abs(a.lo), abs(a.hi))
            return Interval(least, max(abs(a.lo), abs(a.hi)))
        case "cdiv":
            return _quotient(args[0], args[1], ceil=True)
        case _:
            return _aligned(args[0], args[1])


def _signed_parts(b: Interval) -> Iterable[Interval]:
    """Split a divisor's range by sign; it is not zero, or the division fails."""
    if b.lo < 0:
        yield Interval(b.lo, min(b.hi, -1))
    if b.hi > 0:
        yield Interval(max(b.lo, 1), b.hi)


def _quotient(a: Interval, b: Interval, ceil: bool) -> Interval:
    divide = cdiv if ceil else floor_div
    corners = [divide(x, y) for part in _signed_parts(b) for x in (a.lo, a.hi) for y in (part.lo, part.hi)]
    return Interval(min(corners), max(corners)) if corners else Interval(0, 0)


def _remainder(a: Interval, b: Interval) -> Interval:
    if b.lo == b.hi and b.lo != 0 and a.lo // b.lo == a.hi // b.lo:
        ends = a.lo % b.lo, a.hi % b.lo
        return Interval(min(ends), max(ends))
    lo, hi = min(b.lo + 1, 0), max(b.hi - 1, 0)
    if a.lo >= 0 and b.lo >= 0:
        lo, hi = (a.lo, a.hi) if a.hi < b.lo else (0, min(hi, a.hi))
    return Interval(lo, hi)


def _aligned(a: Interval, b: Interval) -> Interval:
    parts = [
        Interval(a.lo, a.hi + part.hi - 1) if part.lo > 0 else Interval(a.lo + part.lo + 1, a.hi)
        for part in _signed_parts(b)
    ]
    if not parts:
        return Interval(0, 0)
    if b.lo == b.hi:
        return Interval(cdiv(a.lo, b.lo) * b.lo, cdiv(a.hi, b.lo) * b.lo)
    return Interval(min(part.lo for part in parts), max(part.hi for part in parts))


def truth(node: Node, ranges: Ranges, clamp: bool = True) -> Interval:
    """Return which of 0 (false) and 1 (true) a node may be as a condition."""
    match node:
        case Unary(op="not", operand=operand):
            inner = truth(operand, ranges, clamp)
            return Interval(1 - inner.hi, 1 - inner.lo)
        case Compare(ops=ops, operands=operands):
            ranged = [bounds(operand, ranges, clamp) for operand in operands]
            links = [_link(op, a, b) for op, (a, b) in zip(ops, pairwise(ranged), strict=True)]
            return Interval(min(link.lo for link in links), min(link.hi for link in links))
        case Logic(op=op, operands=operands):
            parts = []
            for operand in operands:
                parts.append(truth(operand, ranges, clamp))
                ranges = assume(ranges, operand, op == "and", clamp)
            choose = min if op == "and" else max
            return Interval(choose(part.lo for part in parts), choose(part.hi for part in parts))
        case _:
            inner = bounds(node, ranges, clamp)
            return Interval(int(0 not in inner), int(inner.lo != 0 or inner.hi != 0))


def _link(op: str, a: Interval, b: Interval) -> Interval:
    match op:
        case "<":
            surely, maybe = a.hi < b.lo, a.lo < b.hi
        case "<=":
            surely, maybe = a.hi <= b.lo, a.lo <= b.hi
        case ">":
            surely, maybe = a.lo > b.hi, a.hi > b.lo
        case ">=":
            surely, maybe = a.lo >= b.hi, a.hi >= b.lo
        case "==":
            surely, maybe = a.lo == a.hi == b.lo == b.hi, a.meet(b) is not None
        case _:
            surely, maybe = a.meet(b) is None, not a.lo == a.hi == b.lo == b.hi
    return Interval(int(surely), int(maybe))


def assume(ranges: Ranges, test: Node, holds: bool, clamp: bool = True) -> Ranges:
    """Narrow the ranges of names by a condition that is known to hold, or not to."""
    match test:
        case Unary(op="not", operand=operand):
            return assume(ranges, operand, not holds, clamp)
        case Logic(op=op, operands=operands) if holds == (op == "and"):
            for operand in operands:
                ranges = assume(ranges, operand, holds, clamp)
        case Compare(ops=ops, operands=operands) if holds or len(ops) == 1:
            for op, (left, right) in zip(ops, pairwise(operands), strict=True):
                kept = op if holds else _OPPOSITE[op]
                ranges = _narrow(ranges, left, kept, right, clamp)
                ranges = _narrow(ranges, right, _MIRRORED[kept], left, clamp)
    return ranges


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _narrow(ranges: Ranges, name: Node, op: str, limit: Node, clamp: bool) -> Ranges:
    if not isinstance(name, Ref):
        return ranges
    own, other = bounds(name, ranges, clamp), bounds(limit, ranges, clamp)
    match op:
        case "<":
            lo, hi = own.lo, min(own.hi, other.hi - 1)
        case "<=":
            lo, hi = own.lo, min(own.hi, other.hi)
        case ">":
            lo, hi = max(own.lo, other.lo + 1), own.hi
        case ">=":
            lo, hi = max(own.lo, other.lo), own.hi
        case "==":
            lo, hi = max(own.lo, other.lo), min(own.hi, other.hi)
        case _:
            single = other.lo if other.lo == other.hi else None
            lo, hi = own.lo + (own.lo == single), own.hi - (own.hi == single)
    # An empty range means that the branch is never taken; any bounds will do there.
    return {**ranges, name.name: Interval(lo, hi)} if lo <= hi else ranges


def _clamp(value: int) -> int:
    return min(max(value, INT64_MIN), INT64_MAX)
