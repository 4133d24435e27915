"""`table`: a list made on the host, one row of coordinates a unit."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tsc.expr import parse
from tsc.model import Model, Name
from tsc.tiles.walk import INDEX, Let, Order, Walk


class TableOrder(Model):
    """A list made on the host."""

    kind: Literal["table"]
    from_: Name = Field(alias="from")
    """An i32 param of shape `[tiles, axes]`."""


def walk(model: TableOrder, axes: tuple[str, ...]) -> Walk:
    """Read the coordinates."""
    steps = tuple(Let(f"listed_{axis}", parse(f"table[{INDEX}, {i}]")) for i, axis in enumerate(axes))
    coordinates = {axis: parse(step.name) for axis, step in zip(axes, steps, strict=True)}
    listed = {step.name: axis for axis, step in zip(axes, steps, strict=True)}
    return Walk(steps, coordinates, tables={"table": model.from_}, listed=listed)


def _comment(model: TableOrder) -> str:
    return f"As the rows of `{model.from_}` say"


ORDER = Order("table", TableOrder, walk, _comment)
