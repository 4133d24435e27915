"""Asks for tiles in two tasks.

What it does
    Counts the task instances that write the steps of the scheduler task: `acquire`, `fetch_work_tile` and
    `commit` of the queue.

Why is this bad
    One task asks for the next tile and tells all others. Two would each ask, and every second tile would
    be lost to some of the tasks.

Example
    fetch: {warps: 1, replicas: 2, schedule: [...]}      # writes `fetch_work_tile: tiles`

Use instead
    fetch: {warps: 1, schedule: [...]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.queue.steps import SCHEDULING, Protocol, protocols

RULE = Rule("TSC324", "second-scheduler", Severity.ERROR, "two tasks ask the queue for tiles")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each scheduler task after the first."""
    found = [protocol for protocol in protocols(program) if protocol.schedules]
    for protocol in found[1:]:
        own = protocol.task.name == found[0].task.name
        queue = protocol.steps[0].queue
        yield Finding(
            RULE.name,
            f"`{protocol.task.label}` asks for the tiles of `{queue}`, and so does `{found[0].task.label}`",
            _first(protocol),
            () if own else (replace(_first(found[0]), label="the first one"),),
            help="take `replicas` away"
            if own
            else "write `wait`, `get_and_advance_work_tile` and `release` only, or none of the steps",
        )


def _first(protocol: Protocol) -> Place:
    return next(written.place for written in protocol.steps if written.step.verb in SCHEDULING)
