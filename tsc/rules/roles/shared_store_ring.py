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

RULE = Rule("TSC177", "shared-store-ring", Severity.ERROR, "several tasks use one store ring")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each store ring that more than one task instance uses."""
    for (name, copy), ring in program.pipelines.items():
        if not ring.store_ring:
            continue
        users = [use.task for use in program.uses if use.ring == name and use.copy == copy]
        if len(users) > 1:
            tasks = {program.task(label).name for label in users}
            shown = ", ".join(f"`{label}`" for label in users)
            one = len(tasks) == 1
            yield Finding(
                RULE.name,
                f"`{name}` is a store ring, and {shown} use one copy of it",
                Place(("resources", name), "key"),
                tuple(Place(program.task(label).route, "key", label="uses it") for label in users[:3]),
                help=f"write `per: {tasks.pop()}`"
                if one
                else "give each task a ring of its own, or `wait` and `release` it",
            )
