"""Lets a wait pass on the bit of an older phase.

What it does
    Checks for every wait that the task knows the phase before the one it waits for to be over when it begins
    to wait.

Why is this bad
    A barrier shows one bit. While the phase before is still open, that bit reads as if the next one were
    over: the wait passes, and the stage is used before it is filled or written before it is free.

Example
    # lane 1 has seen fill 1 and waits for fill 3, in the stage where fill 0 may be under way to lane 0
    ab:    {kind: smem, stages: 3, interleave: {consumer: 2, producer: 1}, ...}
    mma:   {replicas: 2, schedule: [{domain_loop: k, start: replica, step: 2, body: [wait: ab, ...]}]}

Use instead
    ab:    {kind: smem, stages: 4, interleave: {consumer: 2, producer: 1}, ...}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC342", "early-wait", Severity.ERROR, "a wait may pass on an older phase")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each wait that may come too early."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.windows import early

        yield early(RULE.name, teller, alarm)
