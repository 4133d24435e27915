"""Polynomials over atoms: the sums in which the normal form of an expression is written.

A monomial is a sorted tuple of atoms, the empty one being the constant; a polynomial maps monomials to
integers other than zero. Atoms are nodes that no rule of arithmetic takes apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import gcd

from tsc.expr.printer import text_of
from tsc.expr.tree import Binary, Int, Node, Unary, children

Monomial = tuple[Node, ...]
Poly = Mapping[Monomial, int]

ONE: Monomial = ()


def constant(value: int) -> Poly:
    """Return the polynomial of a constant."""
    return {ONE: value} if value else {}


def atom(node: Node, factor: int = 1) -> Poly:
    """Return the polynomial of a multiple of an atom."""
    return {(node,): factor}


def total(parts: Iterable[tuple[Poly, int]]) -> Poly:
    """Add multiples of polynomials."""
    result: dict[Monomial, int] = {}
    for poly, factor in parts:
        for monomial, value in poly.items():
            result[monomial] = result.get(monomial, 0) + value * factor
    return {monomial: value for monomial, value in result.items() if value}


def plus(left: Poly, right: Poly) -> Poly:
    """Add."""
    return total(((left, 1), (right, 1)))


def minus(left: Poly, right: Poly) -> Poly:
    """Subtract."""
    return total(((left, 1), (right, -1)))


def scaled(poly: Poly, factor: int) -> Poly:
    """Multiply by an integer."""
    return total(((poly, factor),))


def times(left: Poly, right: Poly) -> Poly:
    """Multiply."""
    return total(({joined(a, b): x}, y) for a, x in left.items() for b, y in right.items())


def joined(left: Monomial, right: Monomial) -> Monomial:
    """Multiply monomials."""
    return tuple(sorted(left + right, key=text_of)) if left and right else left or right


def without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Divide a monomial by another, None if it has not all its atoms."""
    rest = list(monomial)
    for node in factor:
        if node not in rest:
            return None
        rest.remove(node)
    return tuple(rest)


def value_of(poly: Poly) -> int | None:
    """Return the value of a constant polynomial, None for another."""
    return poly.get(ONE, 0) if all(monomial == ONE for monomial in poly) else None


def varying(poly: Poly) -> Poly:
    """Return a polynomial without its constant."""
    return {monomial: value for monomial, value in poly.items() if monomial != ONE}


def content(poly: Poly) -> int:
    """Return the greatest common divisor of the coefficients."""
    return gcd(*poly.values())


def leading(poly: Poly) -> int:
    """Return the coefficient that decides over a polynomial's sign in the normal form."""
    return poly[min(poly, key=_order)] if poly else 0


def tree_of(poly: Poly) -> Node:
    """Return the tree of a polynomial; equal polynomials have equal trees."""
    result: Node | None = None
    for monomial in sorted(poly, key=_order):
        value = poly[monomial]
        if result is None:
            result = _term(monomial, value)
        elif value > 0:
            result = Binary("+", result, _term(monomial, value))
        else:
            result = Binary("-", result, _term(monomial, -value))
    return Int(0) if result is None else result


def product_of(monomial: Monomial) -> Node:
    """Return the tree of a monomial other than the constant."""
    result, *rest = monomial
    for node in rest:
        result = Binary("*", result, node)
    return result


def weight(poly: Poly) -> int:
    """Return about how many nodes the polynomial's tree has."""
    return sum(1 + sum(map(_size, monomial)) for monomial in poly)


def _term(monomial: Monomial, value: int) -> Node:
    if not monomial:
        return Int(value)
    product = product_of(monomial)
    if value == 1:
        return product
    return Unary("-", product) if value == -1 else Binary("*", product, Int(value))


def _order(monomial: Monomial) -> tuple[bool, list[str]]:
    return not monomial, [text_of(node) for node in monomial]


@lru_cache(maxsize=8192)
def _size(node: Node) -> int:
    return 1 + sum(map(_size, children(node)))
