"""Leaves warps between tasks that belong to no task.

What it does
    Looks for warps below the last one that no task runs on, where some task says `first_warp`.

Why is this bad
    The warps are launched, take registers, and do nothing.

Example
    load: {warps: 1, first_warp: 8, schedule: [task_sync]}
    store: {warps: 4, schedule: [task_sync]}

Use instead
    load: {warps: 1, schedule: [task_sync]}
    store: {warps: 4, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.capacity import too_many_warps

RULE = Rule("TSC204", "warp-gap", Severity.ERROR, "warps between two tasks belong to nobody")

MOST = 1024  # more warps than any CTA has


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding for each task that stands behind a gap; padding after the last task is no gap."""
    if any((task.warps or 0) < 1 or (task.first_warp or 0) < 0 for task in program.tasks):
        return
    if any(too_many_warps.check(program)):
        return  # which says where the gap comes from
    covered: set[int] = set()
    for task in program.tasks:
        if task.first_warp is not None and task.warps:
            covered |= set(range(max(0, task.first_warp), min(task.first_warp + task.warps, MOST)))
    for task in program.tasks:
        written = program.spec.tasks[task.name].first_warp if task.name in program.spec.tasks else None
        before = (task.first_warp or 0) - 1
        if written is not None and before >= 0 and before not in covered:
            free = next(warp for warp in range(before + 1) if warp not in covered)
            gap = f"warp {free} has" if free == before else f"warps {free} to {before:,} have"
            yield Finding(
                RULE.name,
                f"`{task.label}` begins at warp {task.first_warp:,}, and {gap} no task",
                Place((*task.route, "first_warp")),
                help=f"write `first_warp: {free}`, or leave it out",
            )
