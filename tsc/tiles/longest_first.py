"""`longest_first`: heavy tiles first, where work grows along an axis; `group` heads share what L2 holds."""

from __future__ import annotations

from typing import Literal

from tsc.expr import parse
from tsc.model import Expression, Model, Name
from tsc.tiles.linear import LinearOrder
from tsc.tiles.linear import walk as linear
from tsc.tiles.walk import Let, Order, Walk, strips, units, unravel


class LongestFirstOrder(Model):
    """Heavy tiles first."""

    kind: Literal["longest_first"]
    along: Name
    """The axis along which work grows."""
    group: Expression = parse(1)
    """How many heads share L2."""


def walk(model: LongestFirstOrder, axes: tuple[str, ...]) -> Walk:
    """Count all other axes as heads and walk groups of them, the last block of all heads of a group first."""
    others = tuple(axis for axis in axes if axis != model.along)
    if not others:
        return linear(LinearOrder.model_construct(kind="linear", reverse=(model.along,)), axes)
    cut = strips("index", "heads", units(model.along), "share")
    heads = Let("heads", parse(" * ".join(map(units, others))))
    head = Let("head", parse("strip * share + inner % width"))
    lets, coordinates = unravel(others, "head")
    block = parse(f"{units(model.along)} - 1 - inner // width")
    return Walk((heads, *cut, head, *lets), {**coordinates, model.along: block}, {"group": model.group})


def _comment(model: LongestFirstOrder) -> str:
    return f"`{model.along}` backwards, {model.group.text} of the other coordinates at a time"


ORDER = Order("longest_first", LongestFirstOrder, walk, _comment)
