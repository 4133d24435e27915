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
from tsc.program.model import Program, Task

RULE = Rule("TSC202", "too-many-warps", Severity.ERROR, "a CTA has more warps than the hardware allows")

LISTED = 12  # tasks that the message names


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the task that passes the limit; warps behind a gap are another rule's."""
    if program.target is None or any(task.warps is None for task in program.tasks):
        return
    limit, total = program.target.warps, 0
    over, parts, made = None, [], dict[str, list[Task]]()
    for task in program.tasks:
        made.setdefault(task.name, []).append(task)
    for name, instances in made.items():
        count, each = replicas(program, name), instances[0].warps or 0
        # Replicas beyond those that a CTA could hold are not made one by one.
        total += sum(max(0, task.warps or 0) for task in instances) + (count - len(instances)) * max(0, each)
        over = over or (instances[0] if total > limit else None)
        parts.append(f"{name} {count:,} x {each:,}" if count > 1 else f"{name} {each:,}")
    if over is not None:
        yield Finding(
            RULE.name,
            f"needs {total:,} of {limit} warps a CTA: {', '.join(parts[:LISTED])}"
            + (f" and {len(parts) - LISTED:,} more tasks" if len(parts) > LISTED else ""),
            Place(over.route, "key") if over.derived else Place((*over.route, "warps")),
            help="give the tasks fewer warps, or fewer replicas",
        )


def replicas(program: Program, name: str) -> int:
    """Return how many replicas a task asks for, at least 1."""
    task = program.spec.tasks.get(name)
    asked = program.values.integer(task.replicas, ("tasks", name, "replicas")) if task is not None else None
    return max(1, asked or 1)
