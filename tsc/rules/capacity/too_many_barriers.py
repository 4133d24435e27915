"""Needs more named barriers than a CTA has.

What it does
    Counts the tasks of several warps that act together, which get a named barrier each, and the `barrier`
    resources with their copies.

Why is this bad
    A CTA has 16 named barriers, the first of which is everybody's.

Example
    barriers: one for each of 16 pairs of tasks

Use instead
    signals, which lie in shared memory and are not limited
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC212", "too-many-barriers", Severity.ERROR, "a CTA needs more than 15 named barriers")

LIMIT = 15  # PTX ISA, bar: 16 barriers, and 0 is __syncthreads


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the first declaration past the limit."""
    tasks = [task for task in program.tasks if task.barrier_id is not None]
    barriers = [order for order in program.orders.values() if order.barrier_id is not None]
    if len(tasks) + len(barriers) <= LIMIT:
        return
    if program.target is not None and (program.threads or 0) > 32 * program.target.warps:
        return  # the warps are too many already
    over = [task.route for task in tasks if (task.barrier_id or 0) > LIMIT]
    over += [order.route for order in barriers if (order.barrier_id or 0) > LIMIT]
    parts = [f"{len(tasks)} for tasks of several warps"] if tasks else []
    parts += [f"{len(barriers)} of kind `barrier`"] if barriers else []
    yield Finding(
        RULE.name,
        f"needs {len(tasks) + len(barriers)} of {LIMIT} named barriers: {', '.join(parts)}",
        Place(over[0], "key"),
        help="use a `signal` instead of a `barrier`, or tasks of one warp",
    )
