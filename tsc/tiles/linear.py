"""`linear`: later axes run faster; any of them may run backwards."""

from __future__ import annotations

from typing import Literal

from tsc.expr import Expr, parse, show
from tsc.model import Model, Name
from tsc.tiles.walk import INDEX, Order, Walk, units, unravel


class LinearOrder(Model):
    """Later axes run faster."""

    kind: Literal["linear"]
    reverse: tuple[Name, ...] = ()
    """Axes that run backwards."""


def walk(model: LinearOrder, axes: tuple[str, ...]) -> Walk:
    """Take the axes apart from the last to the first."""
    lets, coordinates = unravel(axes, INDEX)
    return Walk(lets, {axis: _turned(model, axis, at) for axis, at in coordinates.items()})


def _turned(model: LinearOrder, axis: str, at: Expr) -> Expr:
    return parse(f"{units(axis)} - 1 - {show(at)}") if axis in model.reverse else at


def _comment(model: LinearOrder) -> str:
    backwards = f", `{'` and `'.join(model.reverse)}` backwards" if model.reverse else ""
    return f"Later axes run faster{backwards}"


ORDER = Order("linear", LinearOrder, walk, _comment)
