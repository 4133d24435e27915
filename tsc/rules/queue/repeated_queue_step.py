"""Writes a step of the queue twice a tile.

What it does
    Counts the written steps of the queue in each task, copies made by `repeat` included.

Why is this bad
    Each task takes each tile once. A second `wait` waits for the tile after the next.

Example
    - wait: tiles
    - wait: tiles
    - get_and_advance_work_tile: tiles
    - release: tiles

Use instead
    - wait: tiles
    - get_and_advance_work_tile: tiles
    - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.queue.steps import Written, protocols

RULE = Rule("TSC323", "repeated-queue-step", Severity.ERROR, "a step of the queue is done twice a tile")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step of the queue that its task has done already."""
    for protocol in protocols(program):
        first: dict[str, Written] = {}
        for written in protocol.steps:
            before = first.setdefault(written.step.verb, written)
            if before is not written:
                again = before.step.route == written.step.route
                yield Finding(
                    RULE.name,
                    f"`{protocol.task.name}` does `{written.step.verb}: {written.queue}` twice a tile",
                    written.place,
                    () if again else (replace(before.place, label="the first one"),),
                    help="take it out of the `repeat`" if again else "take one of the two away",
                )
