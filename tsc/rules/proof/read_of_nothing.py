"""Reads shared or tensor memory that nothing has written.

What it does
    Checks for every read of plain memory that some write comes before it, on every path and for every trip
    count. `tcgen05_mma` reads its accumulator where `accumulate` holds; for one with stages,
    `read-of-older-fill` looks at that.

Why is this bad
    What stands there is left from another tile, another kernel, or is nothing at all.

Example
    - {when: scaled, then: [{do: fill}]}
    - do: use                        # reads what `fill` writes

Use instead
    - {when: scaled, then: [{do: fill}, {do: use}]}
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
