"""Makes pairs of CTAs in a cluster that does not divide into them.

What it does
    Checks that a kernel with `cta_group: 2` has a `cluster` whose first axis is even.

Why is this bad
    The CTAs of a pair are neighbours along the first axis of their cluster. Without one there is nobody to
    multiply with.

Example
    launch: {cta_group: 2}

Use instead
    launch: {cluster: {m: 2}, cta_group: 2}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC187", "pairs-without-cluster", Severity.ERROR, "a cluster does not divide into pairs of CTAs")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding where the first axis of the cluster is not even, or there is none."""
    if program.spec.launch.cta_group != 2 or (program.cluster and program.cluster[0][1] % 2 == 0):
        return
    written, queue = dict(program.cluster), program.queue
    name, first = program.cluster[0] if program.cluster else (queue.axes[0][0] if queue else "x", 1)
    axes = ", ".join(f"{axis}: {extent}" for axis, extent in {**written, name: first + first % 2}.items())
    has = f"`{name}` has {first} CTA{'' if first == 1 else 's'}" if written else "there is no `cluster`"
    yield Finding(
        RULE.name,
        f"pairs lie along the first axis of the cluster, and {has}",
        Place(("launch", "cluster", name)) if written else Place(("launch", "cta_group")),
        help=f"write `cluster: {{{axes}}}`",
    )
