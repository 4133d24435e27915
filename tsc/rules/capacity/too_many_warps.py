"""Has more warps than a CTA can have.

What it does
    Adds up the warps of all tasks, replicas and padding included.

Why is this bad
    A CTA has at most 32 warps; the launch fails.

Example
    tasks:
      math: {warps: 8, replicas: 5, schedule: [task_sync]}

Use instead
    tasks:
      math: {warps: 8, replicas: 3, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC202", "too-many-warps", Severity.ERROR, "a CTA has more warps than the hardware allows")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the task that passes the limit."""
    if program.threads is None or program.target is None or program.threads // 32 <= program.target.warps:
        return
    limit = program.target.warps
    over = next((t for t in program.tasks if (t.first_warp or 0) + (t.warps or 0) > limit), program.tasks[-1])
    parts = ", ".join(f"{task.label} {task.warps}" for task in program.tasks)
    yield Finding(
        RULE.name,
        f"needs {program.threads // 32} of {limit} warps a CTA: {parts}",
        Place((*over.route, "warps")),
        help="give the tasks fewer warps, or fewer replicas",
    )
