"""Gives the warps of one warpgroup different numbers of registers.

What it does
    Compares `registers` of the tasks that share four consecutive warps. A task that says nothing gets
    what is left, which is one count for all of them.

Why is this bad
    setmaxnreg is executed by all warps of a warpgroup with one count; otherwise its effect is undefined.

Example
    load: {warps: 1, registers: 40, schedule: [task_sync]}
    store: {warps: 1, registers: 64, schedule: [task_sync]}

Use instead
    load: {warps: 1, registers: 40, schedule: [task_sync]}
    store: {warps: 1, registers: 40, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Task
from tsc.rules.capacity.register_count_out_of_range import settable

RULE = Rule(
    "TSC206", "registers-differ-in-warpgroup", Severity.ERROR, "one warpgroup has two register counts"
)

MOST = 1024  # more warps than any CTA has


def warpgroups(program: Program) -> dict[int, list[Task]]:
    """Return the tasks that stand on each warpgroup."""
    groups: dict[int, list[Task]] = {}
    for task in program.tasks:
        if task.first_warp is not None and (task.warps or 0) > 0:
            last = min(task.first_warp + (task.warps or 0), MOST)
            for group in range(max(0, task.first_warp) // 4, (last + 3) // 4):
                groups.setdefault(group, []).append(task)
    return groups


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each warpgroup whose tasks disagree."""
    reported: set[tuple[str, str]] = set()
    for group, tasks in warpgroups(program).items():
        for task in tasks[1:]:
            first = tasks[0]
            counts = [it.registers for it in (first, task) if it.registers is not None]
            if task.registers == first.registers or task.derived or not all(map(settable, counts)):
                continue
            if (first.name, task.name) in reported:
                continue
            reported.add((first.name, task.name))
            yield Finding(
                RULE.name,
                f"warps {4 * group} to {4 * group + 3} are one warpgroup, "
                f"and `{first.label}` has {_count(first)} there, `{task.label}` {_count(task)}",
                Place((*task.route, "registers") if task.registers is not None else task.route, "key"),
                (Place(first.route, "key", label="on the same warpgroup"),),
                help=f"write `registers: {first.registers or task.registers}` for both",
            )


def _count(task: Task) -> str:
    return "no count" if task.registers is None else f"{task.registers} registers"
