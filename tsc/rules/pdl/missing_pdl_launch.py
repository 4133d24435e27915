"""Waits for the kernel before it, and never lets the next one start.

What it does
    Looks for kernels with a `pdl_wait` and no `pdl_launch`.

Why is this bad
    The next kernel of the chain starts when this one ends, as without programmatic dependent launch: nothing
    overlaps. In the last kernel of a chain that is as it should be.

Example
    load: [pdl_wait, acquire: xs, {bulk_load: x, to: xs}, commit: xs]

Use instead
    load: [pdl_wait, acquire: xs, {bulk_load: x, to: xs}, commit: xs, pdl_launch]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC412", "missing-pdl-launch", Severity.WARNING, "a kernel never lets the next one start")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding where a kernel waits for the one before it and no task lets the next one start."""
    steps = [step for task in program.tasks for step in task.steps()]
    waits = [step for step in steps if step.verb == "pdl_wait"]
    if waits and not any(step.verb == "pdl_launch" for step in steps):
        yield Finding(
            RULE.name,
            "the kernel waits for the one before it, and no task lets the next one start",
            Place(waits[0].route),
            help="add `pdl_launch` behind the last load, or silence this in the last kernel of a chain",
        )
