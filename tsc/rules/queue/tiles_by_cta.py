"""Skips tiles by the CTA that has them.

What it does
    Looks for `tile.seq` and `block.x`, `block.y`, `block.z` in a queue's `skip_if`, lets looked through.

Why is this bad
    Which CTA has a tile, and after how many others, is the queue's affair: it changes with the device, and
    under a dynamic policy from launch to launch. A skipped tile is no CTA's, so it has no number in one.

Example
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: tile.seq % 2 == 1}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: tile.m % 2 == 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC334", "tiles-by-cta", Severity.ERROR, "tiles are skipped by the CTA that has them")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each such name; `block` in a cluster is `skip-differs-in-cluster`."""
    queue = program.queue
    if queue is None or queue.skip_if is None:
        return
    names = {name.text for name in program.flat(queue.skip_if).names}
    for name in sorted(names):
        if name == "tile.seq":
            what = "which counts the tiles that a CTA has, and a skipped tile is no CTA's"
        elif name.startswith("block.") and program.cluster_size == 1:
            what = "and which CTA has a tile is up to the queue"
        else:
            continue
        yield Finding(
            RULE.name,
            f"`skip_if` of `{queue.name}` reads `{name}`, {what}",
            Place((*queue.route, "skip_if")),
            help="write it with coordinates of the tile",
        )
