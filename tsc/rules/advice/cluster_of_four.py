"""Keeps multiprocessors idle with large clusters.

What it does
    Finds clusters of more than two CTAs in a kernel whose CTAs stay, under `static` and `atomic`.

Why is this bad
    A cluster lies in one part of the device, and what is left over there takes none: of the 132
    multiprocessors of an H200, 120 hold clusters of four. Measured on a GEMM of 8192^3, a cluster of four is
    5 % slower than one of two, and one of 2 x 2 is 7 % slower.

Example
    launch: {cluster: {m: 2, n: 2}}

Use instead
    launch: {cluster: {m: 2}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC701", "cluster-of-four", Severity.ADVICE, "a large cluster leaves multiprocessors idle")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding for a large cluster of persistent CTAs."""
    queue = program.queue
    if queue is None or queue.policy not in ("static", "atomic") or program.cluster_size <= 2:
        return
    axis = max(program.cluster, key=lambda it: it[1])[0]
    yield Finding(
        RULE.name,
        f"a cluster of {program.cluster_size} does not fit everywhere, and its CTAs stay where they are",
        Place(("launch", "cluster"), "key"),
        (Place((*queue.route, "policy"), label="persistent"),),
        help=f"write `cluster: {{{axis}: 2}}`, which shares the operand that does not depend on `{axis}`",
    )
