"""Has more tiles than a launch can number.

What it does
    Checks that the tiles of a queue, those of ragged clusters included, are at most 2,147,483,647, and under
    `policy: static`, which counts in 64 bits where it has to, that no axis is longer than that. Sizes that
    are known at launch are checked by the loader.

Why is this bad
    A grid has no more CTAs, a counter counts in 32 bits, and so do coordinates.

Example
    tiles: {kind: queue, policy: grid, axes: {m: 65536, n: 65536}}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 65536, n: 65536}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import interval, parse
from tsc.program.model import Program
from tsc.program.resolve import cluster_tiles

RULE = Rule("TSC601", "too-many-tiles", Severity.ERROR, "there are more tiles than a launch can number")
_MOST = 2**31 - 1


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each axis that is surely too long, else one if all tiles together are too many."""
    queue = program.queue
    if queue is None:
        return
    clusters = dict(program.cluster)
    long = False
    for axis, extent in queue.axes:
        least = interval(parse(f"align({extent.text}, {clusters.get(axis, 1)})"), program.ranges).lo
        if least > _MOST:
            long = True
            yield Finding(
                RULE.name,
                f"`{queue.name}` has {least:,} tiles along `{axis}`, and the most are {_MOST:,}",
                Place((*queue.route, "axes", axis)),
                help="make the tiles larger, or part the axis in two",
            )
    least = interval(parse(cluster_tiles(queue, clusters)), program.ranges).lo * program.cluster_size
    if least > _MOST and queue.policy != "static" and not long:
        yield Finding(
            RULE.name,
            f"`{queue.name}` has {least:,} tiles, and `policy: {queue.policy}` numbers at most {_MOST:,}",
            Place((*queue.route, "axes")),
            help="write `policy: static`, which numbers more",
        )
