"""What holds of sums, products and quotients whatever their names are, as rows of a linear system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tsc.expr.intervals import Interval, Ranges, bounds, of_binary
from tsc.expr.normal import poly_of
from tsc.expr.polynomial import Monomial, Poly, atom, constant, minus, plus, scaled, times, total
from tsc.expr.tree import Binary, Call, Int, Node, Ref

Case = Sequence[Poly]
"""Polynomials that are at least zero, all of them."""

_MOST_ROWS = 60
_WIDE = 2**62


def with_laws(case: Case, ranges: Ranges) -> list[Poly]:
    """Add to a case the laws of its monomials and atoms, and of those that the laws bring in."""
    rows = [*case, *_products(case, ranges)]
    monomials: set[Monomial] = set()
    atoms: set[Node] = set()
    at = 0
    while at < len(rows) <= _MOST_ROWS:
        for monomial in rows[at]:
            if monomial and monomial not in monomials:
                monomials.add(monomial)
                rows += _bounds(monomial, ranges)
            for node in monomial:
                if node not in atoms:
                    atoms.add(node)
                    rows += _laws(node, ranges)
        at += 1
    return rows


def _products(case: Case, ranges: Ranges) -> Iterator[Poly]:
    """Multiply what is known by the names that occur in products and are not negative."""
    factors = dict.fromkeys(
        node
        for poly in case
        for monomial in poly
        if len(monomial) > 1
        for node in monomial
        if isinstance(node, Ref)
    )
    for factor in list(factors)[:3]:
        if bounds(factor, ranges, clamp=False).lo >= 0:
            for poly in case[:8]:
                yield times(poly, atom(factor))


def _bounds(monomial: Monomial, ranges: Ranges) -> Iterator[Poly]:
    """Bound a monomial by the ranges of its atoms, and by one atom times the range of the others."""
    head, *rest = (bounds(node, ranges, clamp=False) for node in monomial)
    tail = Interval(1, 1)
    for other in rest:
        tail = of_binary("*", tail, other)
    whole = of_binary("*", head, tail)
    own: Poly = {monomial: 1}
    yield minus(own, constant(whole.lo))
    yield minus(constant(whole.hi), own)
    if rest:
        first, others = atom(monomial[0]), {monomial[1:]: 1}
        for left in _distances(first, head):
            for right in _distances(others, tail):
                yield times(left, right)


def _distances(poly: Poly, range_: Interval) -> Iterator[Poly]:
    """Yield how far a value lies from the ends of its range, where those say anything."""
    if abs(range_.lo) < _WIDE:
        yield minus(poly, constant(range_.lo))
    if abs(range_.hi) < _WIDE:
        yield minus(constant(range_.hi), poly)


def _laws(node: Node, ranges: Ranges) -> Iterator[Poly]:
    match node:
        case Binary(op="//", left=left, right=right):
            yield from _division(node, poly_of(left), right, 1, ranges)
        case Call(function="cdiv", args=(left, right)):
            # cdiv(x, y) is -((-x) // y).
            yield from _division(node, scaled(poly_of(left), -1), right, -1, ranges)
        case Call(function="min" | "max" | "abs" as function, args=args):
            sign = 1 if function == "min" else -1
            for arg in args:
                yield scaled(minus(poly_of(arg), atom(node)), sign)
            if function == "abs":
                yield plus(atom(node), poly_of(args[0]))
        case _:
            return


def _division(node: Node, dividend: Poly, right: Node, sign: int, ranges: Ranges) -> Iterator[Poly]:
    """Bound the remainder of a division whose quotient is `sign * node`; `right` is not zero, or it fails."""
    divisor, range_ = poly_of(right), bounds(right, ranges, clamp=False)
    remainder = minus(dividend, times(divisor, atom(node, sign)))
    if range_.lo >= 0:
        yield remainder
        yield total(((divisor, 1), (constant(1), -1), (remainder, -1)))
        yield minus(divisor, constant(1))
        if not isinstance(right, Int) and bounds(node, ranges, clamp=False).lo >= 0:
            yield minus(times(divisor, atom(node)), atom(node))
            yield minus(scaled(dividend, sign), atom(node))
    elif range_.hi <= 0:
        yield scaled(remainder, -1)
        yield total(((remainder, 1), (divisor, -1), (constant(1), -1)))
        yield total(((divisor, -1), (constant(1), -1)))
