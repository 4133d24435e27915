"""Writes some steps of the queue and leaves others out.

What it does
    Checks that a task which writes steps of the queue writes all of them: `wait`,
    `get_and_advance_work_tile` and `release`, and in the scheduler task `acquire`, `fetch_work_tile` and
    `commit` before them. The try steps may be left out.

Why is this bad
    With any step of its own a task derives none. Without `release`, for instance, the next answer has no
    room and the kernel waits for ever.

Example
    - wait: tiles
    - get_and_advance_work_tile: tiles

Use instead
    - wait: tiles
    - get_and_advance_work_tile: tiles
    - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.queue.steps import protocols
from tsc.spec.wording import series

RULE = Rule("TSC321", "missing-queue-step", Severity.ERROR, "a task writes some steps of the queue only")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding for each task whose written steps are not all that it needs."""
    for protocol in protocols(program):
        there = {written.step.verb for written in protocol.steps}
        missing = [verb for verb in protocol.needed if verb not in there]
        if missing:
            last = protocol.steps[-1]
            yield Finding(
                RULE.name,
                f"`{protocol.task.name}` writes steps of `{last.queue}` and leaves out {series(missing)}",
                last.place,
                help=f"add {series(f'{verb}: {last.queue}' for verb in missing)}, or leave all of them out",
            )
