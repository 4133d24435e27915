"""Skips a tile in some CTAs of a cluster only.

What it does
    Puts the coordinates of all CTAs of a cluster into the queue's `skip_if` and compares the results.

Why is this bad
    The CTAs of a cluster take their tiles together, and wait for each other's loads.

Example
    launch: {cluster: {m: 2}}
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: lengths[tile.m] == 0}

Use instead
    launch: {cluster: {m: 2}}
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: lengths[tile.m // 2] == 0}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import equal, parse, substitute
from tsc.program.model import Program

RULE = Rule("TSC331", "skip-differs-in-cluster", Severity.ERROR, "a tile is skipped by part of a cluster")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for a queue's `skip_if` that is not provably the same in all CTAs of a cluster."""
    queue = program.queue
    if queue is None or queue.skip_if is None or program.cluster_size == 1:
        return
    route = (*queue.route, "skip_if")
    names = {name.text for name in queue.skip_if.names}
    for name in sorted(names):
        if name.startswith("block."):
            yield Finding(
                RULE.name,
                f"`skip_if` depends on `{name}`, which differs within a cluster",
                Place(route),
                help="write it with coordinates of the tile that a whole cluster shares",
            )
    for axis, size in program.cluster:
        tile, own = f"tile.{axis}", f"cluster.{axis}"
        if not names & {tile, own} or size > 16:
            continue
        ranks = [{tile: parse(f"{size} * {tile} + {rank}"), own: parse(rank)} for rank in range(size)]
        first, *others = (substitute(queue.skip_if, rank) for rank in ranks)
        if not all(equal(first, other) for other in others):
            yield Finding(
                RULE.name,
                f"`skip_if` may differ within a cluster, which has {size} CTAs along `{axis}`",
                Place(route),
                (Place(("launch", "cluster", axis), "key", label="the cluster"),),
                help=f"write `{tile} // {size}` in it, or leave `{axis}` out of `cluster`",
            )
