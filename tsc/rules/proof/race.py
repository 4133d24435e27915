"""Lets two tasks access the same bytes in no order.

What it does
    Looks at every pair of accesses of the same bytes, at least one of them a write, and checks that one is
    over, as the other task knows, before the other begins: stage by stage, for every trip count.

Why is this bad
    The result depends on which of the two comes first.

Example
    write: [{do: fill}]               # plain shared memory `table`, read by the other task
    read:  [{do: use}]

Use instead
    table: {kind: smem, stages: 1, dtype: f32, shape: [64]}
    write: [acquire: table, {do: fill}, commit: table]
    read:  [wait: table, {do: use}, release: table]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC401", "race", Severity.ERROR, "two tasks access the same bytes in no order")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of steps."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.meeting import race

        yield race(RULE.name, teller, alarm)
