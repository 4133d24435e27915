"""Ends with a fill that a task should have taken and did not.

What it does
    Compares, at the end of every run, how many fills of a ring each consuming task has taken with how many
    there were.

Why is this bad
    What was loaded last is not used, so a part of the result is missing.

Example
    load: [{domain_loop: n, body: [acquire: xs, {tma_load: x, to: xs}, commit: xs]}]
    add:  [{domain_loop: n - 1, body: [wait: xs, {do: add}, release: xs]}]

Use instead
    add:  [{domain_loop: n, body: [wait: xs, {do: add}, release: xs]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC344", "unconsumed-fill", Severity.ERROR, "a fill is never taken")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each fill that is left over."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.waiting import owners
        from tsc.rules.proof.windows import left_over

        # Whoever leaves a fill at one size is waited for at another, and that is said already.
        if not owners(teller, alarm) & owners(teller, *(it for _, it in faults(program, "deadlock"))):
            yield left_over(RULE.name, teller, alarm)
