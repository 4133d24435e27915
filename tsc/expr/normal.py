"""The normal form: an expression as a sum of multiples of atoms, a condition as comparisons of such sums.

What has one normal form has one value wherever it has any. Divisions are brought to `//` by positive
constants as far as possible; remainders and alignments are written with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import gcd

from tsc.expr.polynomial import (
    ONE,
    Monomial,
    Poly,
    atom,
    constant,
    content,
    leading,
    minus,
    plus,
    product_of,
    scaled,
    times,
    total,
    tree_of,
    value_of,
    varying,
    weight,
    without,
)
from tsc.expr.printer import place, text_of
from tsc.expr.tree import (
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
    children,
    is_condition,
)

# A larger form is not written out: its expression is an atom. Remainders of remainders grow without bounds.
_ROOM = 128


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum: `constant`, and multiples of what is not taken apart: names, products, quotients, calls."""

    constant: int
    terms: Mapping[Expr, int]


def linear(expr: Expr) -> Linear:
    """Return the normal form of an expression; a condition counts as 0 or 1."""
    poly = poly_of(expr.tree)
    terms = {place(product_of(monomial)): value for monomial, value in varying(poly).items()}
    return Linear(poly.get(ONE, 0), terms)


def equal(a: Expr, b: Expr) -> bool:
    """Tell whether two expressions surely have the same value wherever both have one."""
    if is_condition(a.tree) and is_condition(b.tree):
        return condition_of(a.tree) == condition_of(b.tree)
    return poly_of(a.tree) == poly_of(b.tree)


@lru_cache(maxsize=4096)
def poly_of(node: Node) -> Poly:
    """Return the normal form of a node as a polynomial, which nobody may change."""
    poly = _expanded(node)
    return atom(node) if poly is None or weight(poly) > _ROOM else poly


def _expanded(node: Node) -> Poly | None:
    match node:
        case Int(value=value) | Bool(value=value):
            return constant(int(value))
        case Ref():
            return atom(node)
        case Index(name=name, args=args):
            return atom(Index(name, tuple(_normal(arg) for arg in args)))
        case Unary(op="-", operand=operand):
            return scaled(poly_of(operand), -1)
        case Unary(op="+", operand=operand):
            return poly_of(operand)
        case Unary() | Compare() | Logic():
            condition = condition_of(node)
            return constant(int(condition.value)) if isinstance(condition, Bool) else atom(condition)
        case Binary(op=op, left=left, right=right):
            return _arithmetic(op, poly_of(left), poly_of(right))
        case Choice():
            return _choice(node)
        case Call(function="find", args=(tensor, sought)):
            return atom(Call("find", (tensor, _normal(sought))))
        case Call(function=function, args=args):
            return _call(function, [poly_of(arg) for arg in args])


def _normal(node: Node) -> Node:
    return tree_of(poly_of(node))


def _arithmetic(op: str, a: Poly, b: Poly) -> Poly | None:
    match op:
        case "+":
            return plus(a, b)
        case "-":
            return minus(a, b)
        case "*":
            return times(a, b) if len(a) * len(b) <= _ROOM else None
        case "//":
            return floor_of(a, b)
        case _:
            quotient = floor_of(a, b)
            if quotient is None or len(b) * len(quotient) > _ROOM:
                return None
            return minus(a, times(b, quotient))


def _call(function: str, args: list[Poly]) -> Poly | None:
    match function:
        case "cdiv" | "align":
            quotient = floor_of(scaled(args[0], -1), args[1])
            if quotient is None or len(args[1]) * len(quotient) > _ROOM:
                return None
            return scaled(times(args[1], quotient) if function == "align" else quotient, -1)
        case "abs":
            inner = scaled(args[0], -1) if leading(args[0]) < 0 else args[0]
            value = value_of(inner)
            return atom(Call("abs", (tree_of(inner),))) if value is None else constant(abs(value))
        case _:
            return _extreme(function, args)


def _extreme(function: str, args: list[Poly]) -> Poly:
    """Normalise `min` and `max`: no nesting, one argument of those that differ by a constant, in order."""
    choose = min if function == "min" else max
    best: dict[Node, tuple[Poly, int]] = {}
    for arg in args:
        for poly in _same_calls(function, arg):
            rest, offset = varying(poly), poly.get(ONE, 0)
            _, other = best.get(tree_of(rest), (rest, offset))
            best[tree_of(rest)] = rest, choose(other, offset)
    polys = [plus(rest, constant(offset)) for rest, offset in best.values()]
    if len(polys) == 1:
        return polys[0]
    return atom(Call(function, tuple(sorted(map(tree_of, polys), key=text_of))))


def _same_calls(function: str, arg: Poly) -> list[Poly]:
    match list(arg.items()):
        case [((Call(function=inner, args=args),), 1)] if inner == function:
            return [poly_of(item) for item in args]
        case _:
            return [arg]


def _choice(node: Choice) -> Poly:
    test = condition_of(node.test)
    then, other = poly_of(node.then), poly_of(node.other)
    if isinstance(test, Bool):
        return then if test.value else other
    if then == other:
        return then
    opposite = negated(test)
    if text_of(opposite) < text_of(test):
        test, then, other = opposite, other, then
    return atom(Choice(test, tree_of(then), tree_of(other)))


def floor_of(a: Poly, b: Poly) -> Poly | None:
    """Return the normal form of `a // b`, None for a division by zero."""
    divisor = value_of(b)
    if divisor is None:
        return _floor_by_varying(a, b)
    if divisor == 0:
        return None
    return _floor_by(a, divisor) if divisor > 0 else _floor_by(scaled(a, -1), -divisor)


def _floor_by(a: Poly, divisor: int) -> Poly:
    """Divide by a positive constant: its multiples leave the division, the rest is made small."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    offset = a.get(ONE, 0)
    for monomial, value in varying(a).items():
        left = value % divisor
        left -= divisor if 2 * left > divisor else 0
        whole[monomial] = (value - left) // divisor
        if left:
            rest[monomial] = left
    if not rest:
        return plus(whole, constant(offset // divisor))
    if leading(rest) < 0:
        mirrored = plus(scaled(rest, -1), constant(divisor - 1 - offset))
        return total(((whole, 1), (_floor_by(mirrored, divisor), -1)))
    common = gcd(divisor, content(rest))
    divisor //= common
    rest = {monomial: value // common for monomial, value in rest.items()}
    more, offset = divmod(offset // common, divisor)
    whole[ONE] = more
    match list(rest.items()):
        case [((Binary(op="//", left=inner, right=Int(value=first)),), 1)] if first > 0:
            dividend = plus(poly_of(inner), constant(offset * first))
            return plus(total(((whole, 1),)), _floor_by(dividend, first * divisor))
    quotient = Binary("//", tree_of(plus(rest, constant(offset))), Int(divisor))
    return total(((whole, 1), (atom(quotient), 1)))


def _floor_by_varying(a: Poly, b: Poly) -> Poly:
    """Divide by what is no constant; it is not zero, or there is no value to speak of."""
    if leading(b) < 0:
        a, b = scaled(a, -1), scaled(b, -1)
    whole, rest = _multiples(a, b)
    if not rest:
        return whole
    common = gcd(content(rest), content(b))
    rest = {monomial: value // common for monomial, value in rest.items()}
    divisor = tree_of({monomial: value // common for monomial, value in b.items()})
    if leading(rest) < 0:
        return minus(whole, atom(Call("cdiv", (tree_of(scaled(rest, -1)), divisor))))
    return plus(whole, atom(Binary("//", tree_of(rest), divisor)))


def _multiples(a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """Split `a` into `whole * b + rest`."""
    if len(b) > 1:
        monomial = next(iter(b))
        factor = a.get(monomial, 0) // b[monomial]
        return (constant(factor), {}) if scaled(b, factor) == a else ({}, a)
    ((divisor, value),) = b.items()
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, factor in a.items():
        left = without(monomial, divisor)
        if left is None or factor % value:
            rest[monomial] = factor
        else:
            whole[left] = factor // value
    return whole, rest


@lru_cache(maxsize=4096)
def condition_of(node: Node) -> Node:
    """Return the normal form of a condition: a bool, `sum >= c`, `== c`, `!= c`, or `and`, `or`."""
    match node:
        case Bool():
            return node
        case Unary(op="not", operand=operand):
            return negated(condition_of(operand))
        case Compare(ops=ops, operands=operands):
            links = [
                comparison(op, left, right) for op, (left, right) in zip(ops, pairwise(operands), strict=True)
            ]
            return _joined("and", links)
        case Logic(op=op, operands=operands):
            return _joined(op, [condition_of(operand) for operand in operands])
        case _:
            return comparison("!=", node, Int(0))


def comparison(op: str, left: Node, right: Node) -> Node:
    """Return the normal form of one comparison."""
    difference = minus(poly_of(left), poly_of(right))
    if op in ("<", "<="):
        difference = scaled(difference, -1)
    if op in ("<", ">"):
        difference = plus(difference, constant(-1))
    rest, offset = varying(difference), difference.get(ONE, 0)
    kind = op if op in ("==", "!=") else ">="
    if not rest:
        return Bool({"==": offset == 0, "!=": offset != 0, ">=": offset >= 0}[kind])
    common = content(rest)
    if kind != ">=" and offset % common:
        return Bool(kind == "!=")
    if kind != ">=" and leading(rest) < 0:
        common = -common
    bound = Int(-(offset // common))
    return Compare((kind,), (tree_of({monomial: value // common for monomial, value in rest.items()}), bound))


def negated(condition: Node) -> Node:
    """Return the normal form of the opposite of a condition in normal form."""
    match condition:
        case Bool(value=value):
            return Bool(not value)
        case Compare(ops=(op,), operands=(left, right)):
            return comparison({">=": "<", "==": "!=", "!=": "=="}[op], left, right)
        case Logic(op=op, operands=operands):
            return _joined("or" if op == "and" else "and", [negated(operand) for operand in operands])
        case _:
            return comparison("==", condition, Int(0))


def _joined(op: str, conditions: list[Node]) -> Node:
    decides = op == "or"
    parts: dict[str, Node] = {}
    for condition in conditions:
        nested = condition.operands if isinstance(condition, Logic) and condition.op == op else (condition,)
        for part in nested:
            if part == Bool(decides):
                return part
            if not isinstance(part, Bool):
                parts[text_of(part)] = part
    if len(parts) < 2:
        return next(iter(parts.values()), Bool(not decides))
    # The order is free unless one part keeps another from failing.
    ordered = list(parts) if any(map(_may_fail, parts.values())) else sorted(parts)
    return Logic(op, tuple(parts[text] for text in ordered))


def _may_fail(node: Node) -> bool:
    match node:
        case Binary(op="//" | "%", right=right):
            fails = not isinstance(right, Int) or right.value == 0
        case Index() | Call(function="cdiv" | "align" | "find"):
            fails = True
        case _:
            fails = False
    return fails or any(map(_may_fail, children(node)))
