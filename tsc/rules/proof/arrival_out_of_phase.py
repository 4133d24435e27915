"""Lets an arrival count for another phase than the one it is meant for.

What it does
    Checks for every arrival (`commit`, `release`, `pass`, `arrive`, bytes of a load) that the phase before is
    known to be over, and that its own phase takes no more arrivals than the barrier counts.

Why is this bad
    A barrier counts whatever comes. An arrival too many or too soon ends a phase without the task that it
    should have waited for.

Example
    load:  [acquire: ab, {tma_load: x, to: ab}, commit: ab]
    mma:   [{when: n > 0, then: [wait: ab, {do: multiply}]}, {release: ab}]

Use instead
    mma:   [{when: n > 0, then: [wait: ab, {do: multiply}, release: ab]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC343", "arrival-out-of-phase", Severity.ERROR, "an arrival may count for another phase")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each arrival that may fall into another phase."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.windows import misplaced

        yield misplaced(RULE.name, teller, alarm)
