"""Makes a cluster larger than the hardware allows.

What it does
    Multiplies the extents of `cluster` and compares with 8, or with 16 where `non_portable_cluster` is
    set.

Why is this bad
    The launch fails.

Example
    launch: {grid: [32], cluster: {x: 16}}

Use instead
    launch: {grid: [32], cluster: {x: 8}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC513", "cluster-too-large", Severity.ERROR, "a cluster has more CTAs than the hardware allows")

PORTABLE, MOST = 8, 16  # CUDA C++ Programming Guide, thread block clusters


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding where the product of the extents is too large."""
    size, launch = program.cluster_size, program.spec.launch
    limit = MOST if launch.non_portable_cluster else PORTABLE
    extents = " x ".join(f"{extent:,}" for _, extent in program.cluster)
    product = f"{extents} = {size:,}" if len(program.cluster) > 1 else f"{size:,}"
    if size > limit:
        more = " write `non_portable_cluster: true`, or" if size <= MOST else ""
        yield Finding(
            RULE.name,
            f"a cluster has {product} CTAs, and {limit} is the most",
            Place(("launch", "cluster"), "key"),
            help=f"{more} make it smaller".strip(),
        )
