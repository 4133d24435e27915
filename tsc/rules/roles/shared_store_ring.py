"""Lets several tasks use one store ring.

What it does
    Checks that a ring whose only reader is a store engine, and which therefore needs no `wait` and
    `release`, belongs to one task; with replicas it must be `per` the task.

Why is this bad
    `acquire` waits for stores of its own task only. Another task's store may still read the stage.

Example
    out: {kind: smem, stages: 2, dtype: bf16, shape: [64, 64]}       # and both replicas of `math` commit it

Use instead
    out: {kind: smem, per: math, stages: 2, dtype: bf16, shape: [64, 64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.wording import series

RULE = Rule("TSC177", "shared-store-ring", Severity.ERROR, "several tasks use one store ring")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each store ring that more than one task instance uses."""
    reported: set[str] = set()
    for (name, copy), ring in program.pipelines.items():
        users = [use.task for use in program.uses if use.ring == name and use.copy == copy]
        if not ring.store_ring or len(users) < 2 or name in reported:
            continue
        reported.add(name)
        tasks = list(dict.fromkeys(program.task(label).name for label in users))
        yield Finding(
            RULE.name,
            f"`{name}` is a store ring, and {series(users)} use one copy of it",
            Place(("resources", name), "key"),
            tuple(Place(("tasks", task), "key", label="uses it") for task in tasks[:3]),
            help=f"write `per: {tasks[0]}`"
            if len(tasks) == 1
            else "give each task a ring of its own, or `wait` for it and `release` it",
        )
