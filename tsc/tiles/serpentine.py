"""`serpentine`: strips of columns, each walked row by row, every other one from its last row to its first."""

from __future__ import annotations

from typing import Literal

from tsc.expr import parse
from tsc.model import Expression, Flag, Model, Name
from tsc.tiles.linear import LinearOrder
from tsc.tiles.linear import walk as linear
from tsc.tiles.walk import Let, Order, Walk, plane, strips, units


class SerpentineOrder(Model):
    """Groups of rows, walked alternately forwards and backwards."""

    kind: Literal["serpentine"]
    along: Name
    """The grouped axis."""
    group: Expression
    """Tiles a group."""
    reverse_rows: Flag = True
    """Whether rows run backwards too where columns do."""


def walk(model: SerpentineOrder, axes: tuple[str, ...]) -> Walk:
    """Take a number apart into its strip, the row in the strip, and the column in the row.

    Without `reverse_rows` the strip that is walked back goes by blocks of `group` rows, each of them from its
    first row to its last; counted from the far end, the ragged block comes first.
    """
    found = plane(axes, model.along)
    if found is None:
        return linear(LinearOrder.model_construct(kind="linear"), axes)
    extent = units(found.other)
    lets = [
        *strips(found.spot, units(found.along), extent, "columns"),
        Let("row", parse("inner // width")),
        Let("back", parse(f"{extent} - 1 - row")),
    ]
    back = "back"
    if not model.reverse_rows:
        lets.append(Let("height", parse(f"min(group, {extent})")))
        lets.append(Let("start", parse("back // height * height")))
        back = f"start + min(group, {extent} - start) - 1 - back % height"
    coordinates = {
        found.along: parse("strip * columns + inner % width"),
        found.other: parse(f"row if strip % 2 == 0 else {back}"),
    }
    return Walk((*found.lets, *lets), {**found.outside, **coordinates}, {"group": model.group})


def _comment(model: SerpentineOrder) -> str:
    back = "" if model.reverse_rows else " block by block"
    return f"Strips of {model.group.text} along `{model.along}`, every other one walked back{back}"


ORDER = Order("serpentine", SerpentineOrder, walk, _comment)
