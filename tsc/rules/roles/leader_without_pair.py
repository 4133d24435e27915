"""Runs a task in the leader only where there are no pairs.

What it does
    Checks that `ctas: leader` stands in a kernel with `cta_group: 2`.

Why is this bad
    There is no leader: the task would run in every other CTA of an ordinary grid, and the others would
    wait for it.

Example
    launch: {cta_group: 1}
    mma: {warps: 1, ctas: leader, schedule: [task_sync]}

Use instead
    mma: {warps: 1, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC179",
    "leader-without-pair",
    Severity.ERROR,
    "a task is for the leader of a pair, and there are no pairs",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task of the leader in a kernel without pairs."""
    if program.spec.launch.cta_group == 2:
        return
    for name, task in program.spec.tasks.items():
        if task.ctas == "leader":
            yield Finding(
                RULE.name,
                f"`{name}` runs in the leader of a pair, and `cta_group` is 1",
                Place(("tasks", name, "ctas")),
                help="write `launch: {cta_group: 2}`, or take `ctas` away",
            )
