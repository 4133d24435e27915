"""Puts two tasks on one warp, or leaves warps without a task.

What it does
    Compares the ranges of warps of tasks that say `first_warp`, and looks for warps between them that
    belong to nobody.

Why is this bad
    Tasks on one warp would run one after the other, and a ring between them hangs. A gap wastes
    registers.

Example
    load: {warps: 1, first_warp: 0, schedule: [task_sync]}
    store: {warps: 4, first_warp: 0, schedule: [task_sync]}

Use instead
    load: {warps: 1, first_warp: 4, schedule: [task_sync]}
    store: {warps: 4, first_warp: 0, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC203", "overlapping-warps", Severity.ERROR, "two tasks stand on one warp")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of tasks that share a warp."""
    placed = [task for task in program.tasks if task.first_warp is not None and task.warps]
    for i, one in enumerate(placed):
        for other in placed[:i]:
            a, b = one.first_warp or 0, other.first_warp or 0
            first, last = max(a, b), min(a + (one.warps or 0), b + (other.warps or 0)) - 1
            if first <= last:
                shared = f"warp {first}" if first == last else f"warps {first} to {last}"
                yield Finding(
                    RULE.name,
                    f"`{one.label}` and `{other.label}` both run on {shared}",
                    Place((*one.route, "first_warp") if one.replicas == 1 else one.route, "key"),
                    (Place(other.route, "key", label=f"runs on warps {b} to {b + (other.warps or 0) - 1}"),),
                    help="leave `first_warp` out; the warps are then shared out in order",
                )
