"""Reads shared or tensor memory that nothing has written.

What it does
    Checks for every read of a stage, a buffer or an accumulator that some write comes before it, on every
    path and for every trip count.

Why is this bad
    What stands there is left from another tile, another kernel, or is nothing at all.

Example
    - acquire: xs
    - {when: k > 0, then: [{tma_load: x, to: xs}]}
    - commit: xs                     # with `k = 0` the reader finds what was there before

Use instead
    - acquire: xs
    - {when: k > 0, then: [{tma_load: x, to: xs}], else: [{do: clear}]}
    - commit: xs
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC404", "read-of-nothing", Severity.ERROR, "bytes are read that nothing has written")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.outside import unwritten

        yield unwritten(RULE.name, teller, alarm)
