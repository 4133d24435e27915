"""Touches bytes that an asynchronous operation may still be using.

What it does
    Follows loads, stores, `wgmma` and copies from their issue to the event that proves them done, and checks
    that nobody writes what they read, or touches what they write, in between.

Why is this bad
    An asynchronous operation reads and writes long after its step. What is overwritten meanwhile is lost, and
    what is read has not come yet.

Example
    - {wgmma: acc, a: ab.a, b: ab.b}
    - release: ab                     # the next load overwrites what the wgmma still reads

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b}
    - wgmma_wait: 0
    - release: ab
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule(
    "TSC402",
    "race-with-engine",
    Severity.ERROR,
    "bytes are touched while an asynchronous operation uses them",
)
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of steps."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.meeting import race

        yield race(RULE.name, teller, alarm)
