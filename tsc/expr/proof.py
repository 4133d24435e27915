"""Conditions decided for all values of their names, by refuting the opposite.

What the prover knows: the ranges of names, facts, known multiples, and the laws of `//`, `cdiv`, `min`,
`max`, `abs`, products and choices. All of it speaks of the values that an evaluation meets, so a part that is
not evaluated (the other branch of a choice) contributes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import gcd
from typing import NamedTuple

from tsc.expr.intervals import INT64, Interval, Ranges, assume
from tsc.expr.laws import Case, with_laws
from tsc.expr.normal import condition_of, poly_of
from tsc.expr.polynomial import ONE, Monomial, Poly, atom, constant, minus, plus, scaled, times, total
from tsc.expr.system import contradictory
from tsc.expr.tree import (
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    Expr,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
    children,
    with_children,
)

_MOST_CASES = 32
_MOST_SPLITS = 3


class Fact(NamedTuple):
    """Something that holds wherever the question is asked: `lhs <= rhs`."""

    lhs: Expr
    rhs: Expr


def provably(
    condition: Expr,
    ranges: Ranges,
    facts: Iterable[tuple[Expr, Expr] | Expr] = (),
    multiples: Mapping[str, int] | None = None,
) -> bool | None:
    """Decide a condition: True if it always holds, False if it never does, None if that is not known.

    "Always" means: for all values in `ranges` under which the facts hold, each name in `multiples` is a
    multiple of its number, and the condition has a value at all. A fact is a pair `lhs <= rhs`, or itself a
    condition.
    """
    scale = _Scale(ranges, multiples or {})
    known = []
    narrowed = scale.ranges
    for fact in facts:
        tree = fact.tree if isinstance(fact, Expr) else Compare(("<=",), (fact[0].tree, fact[1].tree))
        known.append(_cases(scale.apply(tree), True))
        narrowed = assume(narrowed, scale.apply(tree), True)
    asked = scale.apply(condition.tree)
    for holds in (True, False):
        if _none_possible([_cases(asked, not holds), *known], narrowed):
            return holds
    return None


def multiple_of(expr: Expr, known: Mapping[str, int]) -> int:
    """Return the largest number that surely divides an expression, given numbers that divide its names.

    0 if the expression is always 0, which everything divides.
    """
    tree = _Scale({}, known).apply(expr.tree)
    return reduce(gcd, (value * _divisor(monomial) for monomial, value in poly_of(tree).items()), 0)


def _divisor(monomial: Monomial) -> int:
    result = 1
    for node in monomial:
        result *= _divisor_of(node)
    return result


def _divisor_of(node: Node) -> int:
    match node:
        case Int(value=value):
            return abs(value)
        case Unary(op="-" | "+", operand=operand) | Call(function="abs", args=(operand,)):
            return _divisor_of(operand)
        case Binary(op="*", left=left, right=right):
            return _divisor_of(left) * _divisor_of(right)
        case Binary(op="+" | "-", left=left, right=right) | Choice(then=left, other=right):
            return gcd(_divisor_of(left), _divisor_of(right))
        case Call(function="min" | "max", args=args):
            return gcd(*map(_divisor_of, args))
        case _:
            return 1


class _Scale:
    """Writes each name that is a known multiple as that number times a name of its own."""

    def __init__(self, ranges: Ranges, multiples: Mapping[str, int]) -> None:
        self.names: dict[str, Node] = {}
        own = dict(ranges)
        for name, factor in multiples.items():
            whole = ranges.get(name, INT64).clamped()
            lo, hi = -(-whole.lo // factor) if factor > 1 else 0, whole.hi // factor if factor > 1 else -1
            if lo <= hi:
                # No name of the language has this form, so it cannot meet another.
                own[f"{name}/{factor}"] = Interval(lo, hi)
                self.names[name] = Binary("*", Ref(f"{name}/{factor}"), Int(factor))
        self.ranges: Ranges = own

    def apply(self, node: Node) -> Node:
        if isinstance(node, Ref):
            return self.names.get(node.name, node)
        if isinstance(node, Call) and node.function == "find":
            return Call("find", (node.args[0], self.apply(node.args[1])))
        return (
            with_children(node, tuple(self.apply(child) for child in children(node))) if self.names else node
        )


def _cases(node: Node, holds: bool) -> Sequence[Case]:
    """List the ways in which a condition can hold, or not; `[[]]` if nothing is known of them."""
    condition = condition_of(node if holds else Unary("not", node))
    return _ways(condition)


def _ways(condition: Node) -> Sequence[Case]:
    match condition:
        case Bool(value=value):
            return [[]] if value else []
        case Compare(ops=(op,), operands=(left, right)):
            difference = minus(poly_of(left), poly_of(right))
            above, below = plus(difference, constant(-1)), plus(scaled(difference, -1), constant(-1))
            return {
                ">=": [[difference]],
                "==": [[difference, scaled(difference, -1)]],
                "!=": [[above], [below]],
            }[op]
        case Logic(op="or", operands=operands):
            ways = [way for operand in operands for way in _ways(operand)]
            return ways if len(ways) <= _MOST_CASES else [[]]
        case Logic(operands=operands):
            return _together([_ways(operand) for operand in operands])
        case _:
            return [[]]


def _together(parts: Sequence[Sequence[Case]]) -> Sequence[Case]:
    """Combine conditions that hold at once; one with too many ways is left out, which is sound."""
    combined: list[Case] = [[]]
    for ways in parts:
        if len(combined) * len(ways) <= _MOST_CASES:
            combined = [[*case, *way] for case, way in product(combined, ways)]
    return combined


def _none_possible(parts: Sequence[Sequence[Case]], ranges: Ranges) -> bool:
    return all(_refuted(case, ranges, _MOST_SPLITS) for case in _together(parts))


def _refuted(case: Case, ranges: Ranges, splits: int) -> bool:
    """Tell whether a case surely never occurs, if need be after telling apart what a `min` or a choice is."""
    if contradictory(with_laws(case, ranges)):
        return True
    atoms = dict.fromkeys(node for poly in case for monomial in poly for node in monomial)
    split = next((node for node in atoms if _alternatives(node)), None) if splits else None
    if split is None:
        return False
    return all(
        _refuted([*(_replaced(poly, split, value) for poly in case), *more], ranges, splits - 1)
        for value, more in _alternatives(split)
    )


def _alternatives(node: Node) -> Sequence[tuple[Poly, Case]]:
    """List what an atom may be, each with what then holds."""
    match node:
        case Call(function="min" | "max" as function, args=args):
            polys, sign = [poly_of(arg) for arg in args], 1 if function == "min" else -1
            return [
                (poly, [scaled(minus(other, poly), sign) for other in polys if other is not poly])
                for poly in polys
            ]
        case Call(function="abs", args=(arg,)):
            inner = poly_of(arg)
            return [(inner, [inner]), (scaled(inner, -1), [scaled(inner, -1)])]
        case Choice(test=test, then=then, other=other):
            taken = [(poly_of(then), way) for way in _cases(test, True)]
            return [*taken, *((poly_of(other), way) for way in _cases(test, False))]
        case Compare() | Logic():
            return [(constant(int(holds)), way) for holds in (True, False) for way in _cases(node, holds)]
        case _:
            return []


def _replaced(poly: Poly, node: Node, value: Poly) -> Poly:
    parts: list[tuple[Poly, int]] = []
    for monomial, factor in poly.items():
        product: Poly = {ONE: 1}
        for item in monomial:
            product = times(product, value if item == node else atom(item))
        parts.append((product, factor))
    return total(parts)
