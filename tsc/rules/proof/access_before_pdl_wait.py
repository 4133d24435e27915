"""Touches what the kernel before may still be writing or reading.

What it does
    Checks that every access to a workspace, and to a param that is not `constant`, comes after a `pdl_wait`:
    in the same task, or in one from which the order comes through a ring.

Why is this bad
    Under programmatic dependent launch the kernel before is still running until `pdl_wait` returns.

Example
    load: [acquire: xs, {tma_load: x, to: xs}, commit: xs, pdl_wait]

Use instead
    load: [pdl_wait, acquire: xs, {tma_load: x, to: xs}, commit: xs]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule(
    "TSC410",
    "access-before-pdl-wait",
    Severity.ERROR,
    "data of the kernel before are touched before `pdl_wait`",
)
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each access."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.outside import before_wait

        yield before_wait(RULE.name, teller, alarm)
