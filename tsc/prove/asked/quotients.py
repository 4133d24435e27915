"""Comparisons of quotients, written without them: `x // d >= e` is `x >= d * e`."""

from __future__ import annotations

from tsc.expr.normal import comparison, condition_of, poly_of
from tsc.expr.polynomial import Monomial, Poly, constant, plus, scaled, tree_of
from tsc.expr.tree import Binary, Compare, Int, Logic, Node


def unfolded(poly: Poly, monomial: Monomial) -> Poly | None:
    """Return what is at least zero exactly if `poly` is; `monomial` is the quotient that goes."""
    match monomial:
        case (Binary(op="//", left=left, right=Int(value=divisor)),) if (
            divisor > 0 and abs(poly[monomial]) == 1
        ):
            rest = {other: value for other, value in poly.items() if other != monomial}
            if poly[monomial] > 0:
                return plus(poly_of(left), scaled(rest, divisor))
            # rest >= left // divisor
            return plus(plus(scaled(rest, divisor), constant(divisor - 1)), scaled(poly_of(left), -1))
    return None


def multiplied(condition: Node) -> Node:
    """Return the condition with every comparison of a single quotient written as one of products."""
    node = condition_of(condition)
    match node:
        case Logic(operands=operands):
            return Logic(node.op, tuple(map(multiplied, operands)))
        case Compare(ops=(op,), operands=(left, Int(value=limit))) if op != "!=":
            poly = plus(poly_of(left), constant(-limit))
            quotients = [monomial for monomial in poly if _is_quotient(monomial)]
            if len(quotients) != 1:
                return node
            sides = (poly,) if op == ">=" else (poly, scaled(poly, -1))
            parts = [unfolded(side, quotients[0]) for side in sides]
            found = [comparison(">=", tree_of(part), Int(0)) for part in parts if part is not None]
            if len(found) < len(sides):
                return node
            return multiplied(found[0]) if len(found) == 1 else Logic("and", tuple(map(multiplied, found)))
    return node


def _is_quotient(monomial: Monomial) -> bool:
    return len(monomial) == 1 and isinstance(monomial[0], Binary) and monomial[0].op == "//"
