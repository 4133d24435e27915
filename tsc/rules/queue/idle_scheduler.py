"""Has a scheduler task under a policy that needs none.

What it does
    Looks for a task that writes `acquire`, `fetch_work_tile` and `commit` of the queue where the policy is
    `grid` or `static`.

Why is this bad
    Under these policies each CTA computes its tiles itself. The steps do nothing, and the task's warps
    stand by.

Example
    tiles: {kind: queue, policy: static, axes: {m: 64}}
    fetch: {warps: 1, schedule: [...]}      # writes `fetch_work_tile: tiles`

Use instead
    tiles: {kind: queue, policy: atomic, axes: {m: 64}}
    fetch: {warps: 1, schedule: [...]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.queue.steps import SCHEDULING, protocols

RULE = Rule("TSC325", "idle-scheduler", Severity.WARNING, "a scheduler task has nothing to schedule")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each scheduler task under `grid` or `static`."""
    queue = program.queue
    if queue is None or queue.policy not in ("grid", "static"):
        return
    for protocol in protocols(program):
        if protocol.schedules:
            first = next(written for written in protocol.steps if written.step.verb in SCHEDULING)
            yield Finding(
                RULE.name,
                f"`{first.step.verb}: {first.queue}` does nothing, because the policy is `{queue.policy}`",
                first.place,
                (Place((*queue.route, "policy"), label="asks nobody"),),
                help=f"take the scheduler's steps out of `{protocol.task.name}`, "
                "or write `policy: atomic` or `policy: clc`",
            )
