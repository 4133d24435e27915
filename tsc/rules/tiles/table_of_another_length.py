"""Lists more or fewer tiles than there are.

What it does
    Checks that a `table` order has a row for each tile (for each cluster of them, where there are clusters).
    Sizes that are known at launch are compared by the loader.

Why is this bad
    Tiles without a row are never taken, and rows past the tiles are never read.

Example
    params: {order: {dtype: i32, shape: [63, 2]}}
    tiles: {kind: queue, policy: static, axes: {m: 8, n: 8}, order: {kind: table, from: order}}

Use instead
    params: {order: {dtype: i32, shape: [64, 2]}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import parse
from tsc.program.model import Program
from tsc.program.resolve import cluster_tiles
from tsc.tiles.table import TableOrder

RULE = Rule("TSC603", "table-of-another-length", Severity.ERROR, "a table lists more or fewer tiles")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for a table whose rows are known to be others than the tiles."""
    queue = program.queue
    if queue is None or not isinstance(queue.order, TableOrder):
        return
    table = program.tensors.get(queue.order.from_)
    units = program.flat(parse(cluster_tiles(queue, dict(program.cluster)))).value
    rows = table.shape[0].value if table is not None and table.shape else None
    if table is None or rows is None or units is None or rows == units:
        return
    what = "clusters of tiles" if program.cluster_size > 1 else "tiles"
    yield Finding(
        RULE.name,
        f"`{table.name}` has {int(rows):,} rows, and `{queue.name}` has {int(units):,} {what}",
        Place((*queue.route, "order", "from")),
        (Place((*table.route, "shape"), label="the rows"),),
        help=f"give `{table.name}` {int(units):,} rows",
    )
