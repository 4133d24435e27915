"""Bulk copies whose place comes from memory: that what memory says lies inside is trusted, and that the copy
begins and ends where it says is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.expr import Expr, Linear, build, linear, substitute
from tsc.expr.tree import Binary, Call, Compare, Index, Int, Node, Ref, walk
from tsc.ops.inside import not_below, not_beyond
from tsc.ops.lowering import Lowering

_NESTED = 4  # loops whose last rounds are looked at


def begins_inside(lowering: Lowering, at: Expr) -> bool:
    """Whether a coordinate is surely 0 or more, if what memory says about it adds up to 0 or more."""
    if lowering.proves(not_below(at)):
        return True
    rest, said = at.tree, 0
    for part, factor in linear(lowering.flat(at)).terms.items():
        if _from_memory(lowering, part):
            rest = Binary("-", rest, Binary("*", Int(factor), part.tree))
            said = max(said, factor)
    return said > 0 and lowering.proves(not_below(build(rest)))


def ends_inside(lowering: Lowering, at: Expr, extent: Expr | int, limit: Expr) -> bool:
    """Whether so many rows surely end at the limit, or where memory says, or before."""
    if lowering.proves(not_beyond(at, extent, limit)):
        return True
    if extent == 1 and _said(lowering, linear(lowering.flat(at))):
        return True  # memory gives the number of a row
    length = Int(extent) if isinstance(extent, int) else extent.tree
    for bound in _bounds(lowering.flat(build(length)).tree):
        end = lowering.flat(build(Binary("+", at.tree, bound)))
        if any(_said(lowering, linear(last)) for last in _latest(lowering, end)):
            return True
    places = [at, build(length), *lowering.facts()]
    elements = {
        node for place in places for node in walk(lowering.flat(place).tree) if isinstance(node, Index)
    }
    return any(lowering.proves(not_beyond(at, extent, build(element))) for element in elements)


def sources(lowering: Lowering, *places: Expr) -> str:
    """Return the names of what memory says about places, for a sentence."""
    flat = [lowering.flat(place) for place in places]
    private = {name for expr in flat for name in expr.free if lowering.reads_memory(build(Ref(name)))}
    names = sorted({name for expr in flat for name in expr.indexed} | private)
    return " and ".join(f"`{name}`" for name in names)


def _from_memory(lowering: Lowering, part: Expr) -> bool:
    match part.tree:
        case Index() | Call(function="find"):
            return True
        case Ref():
            return lowering.reads_memory(part)
        case _:
            return False


def _said(lowering: Lowering, sum_: Linear) -> bool:
    """Whether a sum consists of nothing but what memory says, or is less."""
    parts = sum_.terms
    return (
        sum_.constant <= 0
        and any(factor > 0 for factor in parts.values())
        and all(_from_memory(lowering, part) for part in parts)
    )


def _bounds(length: Node) -> Iterator[Node]:
    """Yield what a length is surely not above; one below zero copies nothing."""
    match length:
        case Call(function="min", args=args):
            for arg in args:
                yield from _bounds(arg)
        case Call(function="max", args=(inner, Int(value=0))):
            yield from _bounds(inner)
        case _:
            yield length


def _latest(lowering: Lowering, end: Expr) -> Iterator[Expr]:
    """Yield an end, and what it is at most in the last rounds of the loops around."""
    tops: dict[str, Expr] = {}
    for fact in lowering.facts():
        match fact.tree:
            case Compare(ops=("<",), operands=(Ref(name=name), top)):
                tops[name] = build(Binary("-", top, Int(1)))
            case _:
                pass
    for _ in range(_NESTED):
        yield end
        rising = {
            part.tree.name
            for part, factor in linear(end).terms.items()
            if isinstance(part.tree, Ref) and factor > 0 and part.tree.name in tops
        }
        fixed = {name for name in rising if not _elsewhere(linear(end), name)}
        if not fixed:
            return
        end = substitute(end, {name: tops[name] for name in fixed})


def _elsewhere(sum_: Linear, name: str) -> bool:
    """Whether a name stands in a part of a sum other than by itself."""
    return any(name in part.free for part in sum_.terms if part.tree != Ref(name))
