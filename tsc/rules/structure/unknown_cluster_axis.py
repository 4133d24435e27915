"""Gives the cluster an axis that the tiles do not have.

What it does
    Checks that the axes of `launch.cluster` are axes of the queue, or, without one, `x`, `y` and `z`.

Why is this bad
    The CTAs of a cluster take neighbouring tiles along its axes.

Example
    launch: {cluster: {x: 2}}
    resources:
      tiles: {kind: queue, policy: static, axes: {m: 64, n: 64}}

Use instead
    launch: {cluster: {m: 2}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.wording import did_you_mean, series

RULE = Rule(
    "TSC137", "unknown-cluster-axis", Severity.ERROR, "a cluster has an axis that the tiles do not have"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each cluster axis that is unknown."""
    queue = program.queue
    known = [axis for axis, _ in queue.axes] if queue is not None else ["x", "y", "z"]
    of = f"`{queue.name}`" if queue is not None else "a grid"
    for axis in program.spec.launch.cluster:
        if axis not in known:
            yield Finding(
                RULE.name,
                f"`{axis}` is no axis of {of}, which has {series(known)}",
                Place(("launch", "cluster", axis), "key"),
                help=did_you_mean(axis, known) or f"write {series(known, 'or')}",
            )
