"""Lets tasks wait for each other for ever.

What it does
    Runs the schedules of all tasks against each other, for every trip count and every answer to a condition,
    and looks whether some task is left waiting.

Why is this bad
    The kernel hangs.

Example
    ping: [wait: back, {do: use}, release: back, acquire: there, {do: serve}, commit: there]
    pong: [wait: there, acquire: back, {do: answer}, commit: back, release: there]

Use instead
    ping: [acquire: there, {do: serve}, commit: there, wait: back, {do: use}, release: back]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC340", "deadlock", Severity.ERROR, "tasks wait for each other for ever")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each deadlock, at the step that is the cause."""
    told: set[str] = set()
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.waiting import deadlock, owners

        # Sizes that differ leave now the one side of a ring waiting and now the other: one mistake.
        if not owners(teller, alarm) <= told:
            told |= owners(teller, alarm)
            yield deadlock(RULE.name, teller, alarm)
