"""Lets the next kernel start before this one has waited for the one before.

What it does
    Checks that every `pdl_launch` comes after a `pdl_wait`, in the same task or by an order through a ring,
    in kernels that have one.

Why is this bad
    The next kernel waits for this one alone. It may then start its own work on data of the kernel before this
    one while that is still running.

Example
    load: [pdl_launch, pdl_wait, ...]

Use instead
    load: [pdl_wait, pdl_launch, ...]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC411", "pdl-launch-before-wait", Severity.ERROR, "`pdl_launch` may come before the `pdl_wait`")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each launch."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.outside import launch

        yield launch(RULE.name, teller, alarm)
