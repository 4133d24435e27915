"""`group_major`: groups of rows, each walked column by column; the last group is as small as what is left."""

from __future__ import annotations

from typing import Literal

from tsc.expr import parse
from tsc.model import Expression, Model, Name
from tsc.tiles.linear import LinearOrder
from tsc.tiles.linear import walk as linear
from tsc.tiles.walk import Order, Walk, plane, strips, units


class GroupMajorOrder(Model):
    """Groups of rows, each walked column by column."""

    kind: Literal["group_major"]
    along: Name
    """The grouped axis."""
    group: Expression
    """Tiles a group."""


def walk(model: GroupMajorOrder, axes: tuple[str, ...]) -> Walk:
    """Take a number apart into its group, the column in the group, and the row in the column."""
    found = plane(axes, model.along)
    if found is None:
        return linear(LinearOrder.model_construct(kind="linear"), axes)
    cut = strips(found.spot, units(found.along), units(found.other), "rows")
    coordinates = {
        found.along: parse("strip * rows + inner % width"),
        found.other: parse("inner // width"),
    }
    return Walk((*found.lets, *cut), {**found.outside, **coordinates}, {"group": model.group})


def _comment(model: GroupMajorOrder) -> str:
    return f"Groups of {model.group.text} along `{model.along}`, in which `{model.along}` runs fastest"


ORDER = Order("group_major", GroupMajorOrder, walk, _comment)
