"""Loops in the machine's form: a constant start, a constant positive step, and a bound above.

What varies in a start goes over to the bound and to the author's variable; a falling loop is mirrored by
x -> -1 - x, so that `n - 1` down to 0 and 0 up to `n - 1` are one loop. Starts and steps with a common
divisor are divided by it: below `k` by 64 is below `cdiv(k, 64)` by 1. Lanes, which start at 0, 1, ... with
the number of lanes as step, have no common divisor, and so stand in the same values as a loop over all.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from tsc.expr import Interval
from tsc.expr.intervals import bounds
from tsc.expr.normal import floor_of, poly_of
from tsc.expr.polynomial import ONE, Poly, constant, minus, plus, scaled, tree_of, value_of, varying
from tsc.expr.tree import Binary, Call, Int, Node, Ref
from tsc.program.model import Program
from tsc.program.tree import Loop, walk
from tsc.prove.asked.scope import Scope, Shape
from tsc.prove.asked.symbols import THREAD_NAMES, free, loop_symbol


def units_of(program: Program) -> dict[int, int]:
    """Return for each step by what number the loops with that step are divided."""
    units: dict[int, int] = {}
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, Loop):
                step = value_of(poly_of(program.flat(node.step, node.env).tree))
                if step:
                    start = poly_of(program.flat(node.start, node.env).tree)
                    first = _first(start, step < 0)
                    units[abs(step)] = gcd(units.get(abs(step), abs(step)), first)
    return units


def _first(start: Poly, falls: bool) -> int:
    offset = start.get(ONE, 0)
    return -1 - offset if falls else offset


def shape_of(scope: Scope, node: Loop, coordinate: int, units: Mapping[int, int]) -> Shape:
    """Return the form of a loop whose value has this coordinate."""
    start, end, step = (scope.tree(expr, node.env) for expr in (node.start, node.end, node.step))
    own = Ref(loop_symbol(coordinate))
    ranged = bounds(step, scope.symbols.ranges | scope.ranges)
    if ranged.lo <= 0 <= ranged.hi or any(free(tree) & THREAD_NAMES for tree in (start, end, step)):
        return _private(scope, node, coordinate)
    trips = _trips(start, end, step, ranged.lo > 0)
    moved = Binary("+", start, Binary("*", own, step))
    if node.key is not None:
        rounds = keyed(scope, node.key, trips)
        return Shape(0, 1, rounds, moved, rounds)
    fixed = value_of(poly_of(step))
    if fixed is None:
        return Shape(0, 1, trips, moved, trips)
    return _regular(poly_of(start), poly_of(end), fixed, own, units)


def _regular(start: Poly, end: Poly, step: int, own: Ref, units: Mapping[int, int]) -> Shape:
    falls = step < 0
    if falls:
        start, end, step = _mirrored(start), _mirrored(end), -step
    first, rest = start.get(ONE, 0), varying(start)
    bound = _without_floor(minus(end, rest), first)
    unit = gcd(units.get(step, step), first, step)
    quotient = floor_of(scaled(bound, -1), constant(unit))
    if quotient is not None and unit > 1:
        bound, first, step = scaled(quotient, -1), first // unit, step // unit
    value = plus(rest, {(own,): unit})
    below = tree_of(bound)
    distance = Binary("-", below, Int(first)) if first else below
    trips = distance if step == 1 else Call("cdiv", (distance, Int(step)))
    return Shape(first, step, below, tree_of(_mirrored(value) if falls else value), trips)


def _without_floor(bound: Poly, first: int) -> Poly:
    """Return a bound without constants that it is at least: below `max(n, 0)` from 0 on is below `n`."""
    offset = bound.get(ONE, 0)
    match [monomial for monomial in bound if monomial]:
        case [(Call(function="max", args=args),) as monomial] if bound[monomial] == 1:
            kept = [arg for arg in args if not (isinstance(arg, Int) and arg.value + offset <= first)]
            if len(kept) == 1:
                return plus(poly_of(kept[0]), constant(offset))
            if 1 < len(kept) < len(args):
                return plus(poly_of(Call("max", tuple(kept))), constant(offset))
    return bound


def _mirrored(poly: Poly) -> Poly:
    return plus(scaled(poly, -1), constant(-1))


def _trips(start: Node, end: Node, step: Node, rises: bool) -> Node:
    if rises:
        return Call("cdiv", (Binary("-", end, start), step))
    return Call("cdiv", (Binary("-", start, end), Binary("-", Int(0), step)))


def _private(scope: Scope, node: Loop, coordinate: int) -> Shape:
    """Return the form of a loop of which nothing is known but that it ends."""
    rounds = scope.private(f"rounds of `{node.variable}`")
    value = scope.private(node.variable, coordinate + 1)
    return Shape(0, 1, rounds, value, rounds)


def keyed(scope: Scope, key: str, trips: Node) -> Ref:
    """Return the number of rounds that has this key in all tasks.

    Wherever it is written, in whatever form, it is one number; so it depends on no more than any form does.
    """
    symbols = scope.symbols
    own = scope.rank if scope.differs(trips) else ()
    depth = symbols.depth(free(trips))
    symbol = symbols.own(
        ("trips", key, own), f"`key: {key}`{scope.places.of_rank(own) if own else ''}", depth
    )
    symbols.depths[symbol.name] = min(symbols.depths[symbol.name], depth)
    met = symbols.ranges[symbol.name].meet(bounds(trips, symbols.ranges | scope.ranges))
    symbols.ranges[symbol.name] = met or Interval()
    return symbol
