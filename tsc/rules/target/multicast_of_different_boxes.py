"""Multicasts a box along an axis on which it depends, or along none of the cluster's.

What it does
    Checks that `multicast` names an axis of `cluster`, and that `at` depends neither on the tile nor on
    the rank along it.

Why is this bad
    All CTAs along the axis receive the box that one of them asked for.

Example
    launch: {cluster: {m: 2}}
    - {tma_load: a, at: [tile.m * BM, loop * BK], to: ring, multicast: m}

Use instead
    - {tma_load: a, at: [tile.m * BM, loop * BK], to: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC523", "multicast-of-different-boxes", Severity.ERROR, "a multicast box differs along its axis"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each multicast whose box differs, or whose axis the cluster does not have."""
    axes = dict(program.cluster)
    for task in program.tasks:
        for step in task.steps():
            axis = getattr(step.model, "multicast", None)
            if axis is None:
                continue
            if axis not in axes:
                if program.queue is not None and axes.keys() - dict(program.queue.axes).keys():
                    continue  # an axis of the cluster that is none of the queue's has been reported
                known = ", ".join(f"`{name}`" for name in axes)
                yield Finding(
                    RULE.name,
                    f"the cluster has no axis `{axis}`" + (f", only {known}" if known else "; it has none"),
                    Place((*step.route, "multicast")),
                    help=(f"name {known}, or add" if known else "write")
                    + f" `launch: {{cluster: {{{axis}: 2}}}}`, or take `multicast` away",
                )
                continue
            for i, coordinate in enumerate(getattr(step.model, "at", None) or ()):
                depends = {n.text for n in program.flat(coordinate, step.env).names} & {
                    f"tile.{axis}",
                    f"cluster.{axis}",
                }
                for name in sorted(depends):
                    yield Finding(
                        RULE.name,
                        f"all CTAs along `{axis}` receive the same box, and this one depends on `{name}`",
                        Place((*step.route, "at", i)),
                        help="take `multicast` away, or name the other axis",
                    )
