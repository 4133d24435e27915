"""Puts two tasks on one warp.

What it does
    Compares the ranges of warps of all tasks and their replicas.

Why is this bad
    Tasks on one warp would run one after the other, and a ring between them hangs.

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
from tsc.program.model import Program, Task
from tsc.rules.capacity import too_many_warps

RULE = Rule("TSC203", "overlapping-warps", Severity.ERROR, "two tasks stand on one warp")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of tasks that share a warp."""
    placed = [task for task in program.tasks if task.first_warp is not None and (task.warps or 0) > 0]
    if any((task.first_warp or 0) < 0 for task in program.tasks) or any(too_many_warps.check(program)):
        return  # where to begin then cannot be told
    for i, one in enumerate(placed):
        for other in placed[:i]:
            a, b = one.first_warp or 0, other.first_warp or 0
            first, last = max(a, b), min(a + (one.warps or 0), b + (other.warps or 0)) - 1
            if first <= last:
                alike = one.name == other.name
                yield Finding(
                    RULE.name,
                    f"`{one.label}` and `{other.label}` both run on {_warps(first, last)}",
                    _place(program, one) or Place(one.route, "key"),
                    () if alike else (Place(other.route, "key", label=_where(b, other)),),
                    help=f"write `first_warp: {f'{b} + ' if b else ''}replica * {one.warps}`, or leave it out"
                    if alike
                    else "leave `first_warp` out; the warps are then shared out in order",
                )


def _place(program: Program, task: Task) -> Place | None:
    model = program.spec.tasks.get(task.name)
    written = model is not None and model.first_warp is not None
    return Place((*task.route, "first_warp")) if written else None


def _where(first: int, task: Task) -> str:
    return f"runs on {_warps(first, first + (task.warps or 0) - 1)}"


def _warps(first: int, last: int) -> str:
    return f"warp {first:,}" if first == last else f"warps {first:,} to {last:,}"
