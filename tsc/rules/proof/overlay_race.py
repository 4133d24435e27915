"""Uses a resource while another one that lies on the same bytes is in use.

What it does
    Checks that no access to a resource meets an access to one that is `over` it, stage by stage.

Why is this bad
    The two share bytes, so one overwrites the other.

Example
    out: {kind: smem, over: ab, ...}
    math: [wait: ab, {wgmma: acc, a: ab.a, b: ab.b}, {stmatrix: out, from: acc}, wgmma_wait: 0, release: ab]

Use instead
    math: [wait: ab, {wgmma: acc, a: ab.a, b: ab.b}, wgmma_wait: 0, {stmatrix: out, from: acc}, release: ab]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule(
    "TSC405", "overlay-race", Severity.ERROR, "two resources that share bytes are used at the same time"
)
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of steps."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.meeting import race

        yield race(RULE.name, teller, alarm)
