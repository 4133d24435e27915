"""Orders of the tests: every kind of them, as they are written, and as grids of given sizes."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from functools import cache
from typing import Any

from tsc.tiles.grid import Grid, Place
from tsc.tiles.registry import BY_KIND, walk_of
from tsc.tiles.walk import Walk

CLUSTERS = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1))
GROUPS = range(1, 10)
UNGROUPED: tuple[dict[str, Any], ...] = (
    {"kind": "linear"},
    {"kind": "linear", "reverse": ["m"]},
    {"kind": "linear", "reverse": ["n", "m"]},
    {"kind": "hilbert"},
)
GROUPED: tuple[dict[str, Any], ...] = (
    {"kind": "group_major", "along": "m"},
    {"kind": "group_major", "along": "n"},
    {"kind": "serpentine", "along": "m"},
    {"kind": "serpentine", "along": "n"},
    {"kind": "serpentine", "along": "m", "reverse_rows": False},
    {"kind": "serpentine", "along": "n", "reverse_rows": False},
    {"kind": "longest_first", "along": "m"},
    {"kind": "longest_first", "along": "n"},
)


def orders(*groups: int) -> list[dict[str, Any]]:
    """Every order over `m` and `n`, those with a group with each of the groups."""
    return [*UNGROUPED, *({**order, "group": group} for order in GROUPED for group in groups)]


def name_of(order: Mapping[str, Any]) -> str:
    return "-".join(str(it) if not isinstance(it, list) else "+".join(it) for it in order.values())


@cache
def _walk(order: str, axes: tuple[str, ...]) -> Walk:
    fields = literal_eval(order)
    return walk_of(BY_KIND[fields["kind"]].model.model_validate(fields), axes)


def grid(
    order: Mapping[str, Any],
    extents: Place,
    axes: tuple[str, ...] = ("m", "n"),
    cluster: Place = (),
    tables: Mapping[str, Any] | None = None,
) -> Grid:
    """An order over so many tiles."""
    walk = _walk(repr(dict(order)), axes)
    options = {name: int(expr.value or 0) for name, expr in walk.options.items()}
    return Grid(axes, extents, walk, cluster, options, tables or {})
