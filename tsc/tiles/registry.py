"""The orders of the language, one line each."""

from __future__ import annotations

from typing import Any

from tsc.tiles import group_major, hilbert, linear, longest_first, serpentine, table
from tsc.tiles.walk import Order, Walk

ORDERS: tuple[Order, ...] = (
    linear.ORDER,
    group_major.ORDER,
    serpentine.ORDER,
    hilbert.ORDER,
    longest_first.ORDER,
    table.ORDER,
)

BY_KIND: dict[str, Order] = {order.kind: order for order in ORDERS}


def walk_of(model: Any, axes: tuple[str, ...]) -> Walk:
    """Return the walk of an order, given its model, over the axes of a queue."""
    return BY_KIND[model.kind].walk(model, axes)
