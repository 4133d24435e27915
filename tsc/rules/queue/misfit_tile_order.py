"""Orders the tiles by a group or a table that does not fit them.

What it does
    Checks that the `group` of an order is at least 1, and that a `table` is an `i32` param with a row a
    tile and a column an axis.

Why is this bad
    A group of no tiles has no order, and a table of another form names no tiles.

Example
    params: {order: {dtype: i32, shape: [tiles]}}
    work: {kind: queue, policy: static, axes: {m: 8, n: 8}, order: {kind: table, from: order}}

Use instead
    params: {order: {dtype: i32, shape: [tiles, 2]}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import show
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.resources import Queue
from tsc.spec.wording import did_you_mean
from tsc.tiles.table import TableOrder

RULE = Rule("TSC328", "misfit-tile-order", Severity.ERROR, "an order does not fit the tiles")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each group below 1 and each table of another form."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, Queue):
            continue
        route: Route = ("resources", name, "order")
        if isinstance(model.order, TableOrder):
            yield from _table(program, name, model, (*route, "from"))
            continue
        where = (*route, "group")
        group = program.values.integer(getattr(model.order, "group", None), where)
        if group is not None and group < 1:
            yield Finding(
                RULE.name,
                f"a group of `{name}` has {group:,} tiles, and the least is 1",
                Place(where),
                help="write 1 or more",
            )


def _table(program: Program, name: str, model: Queue, where: Route) -> Iterator[Finding]:
    param = getattr(model.order, "from_", "")
    tensor, axes = program.tensors.get(param), len(model.axes)
    if tensor is None or tensor.workspace:
        near = did_you_mean(param, [n for n, t in program.tensors.items() if not t.workspace])
        yield Finding(
            RULE.name,
            f"`{param}` is no tensor param",
            Place(where),
            help=near or f"declare it: `{{dtype: i32, shape: [tiles, {axes}]}}`",
        )
        return
    shape = ", ".join(show(extent) for extent in tensor.shape)
    if tensor.dtype != "i32" or tensor.rank != 2 or (show(tensor.shape[1]) != str(axes)):
        yield Finding(
            RULE.name,
            f"`{name}` has {axes} axes, and `{param}` is a table of {tensor.dtype} `[{shape}]`",
            Place(where),
            (Place(tensor.route, "key", label="the table"),),
            help=f"give it `dtype: i32` and a shape such as `[tiles, {axes}]`",
        )
