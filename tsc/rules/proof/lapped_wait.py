"""Lets a barrier go round while a task has yet to look at it.

What it does
    Checks for every wait that the phase after the one it waits for cannot be over before the task looks.

Why is this bad
    A barrier shows one bit, which is the same again two phases on. A task that looks too late takes the phase
    for one that is still open, and sleeps through it.

Example
    load:  [acquire: ab, {tma_load: x, to: ab}, commit: ab]
    mma:   [wait: ab, {do: multiply}, release: ab]
    watch: [{wait: ab, observe: true}, {do: count}]       # nobody waits for `watch`

Use instead
    watch: [wait: ab, {do: count}, release: ab]           # the loader waits for its release too
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC341", "lapped-wait", Severity.ERROR, "a barrier may go round before a task has looked at it")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each wait that may come too late."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.windows import lapped

        yield lapped(RULE.name, teller, alarm)
