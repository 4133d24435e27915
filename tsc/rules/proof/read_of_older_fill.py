"""Reads bytes of a stage that this fill has not written.

What it does
    Checks for every read of a stage that the fill which it waited for has written these bytes, on every path
    and for every trip count; and for what reads a stage that its own task has acquired, that something has
    written them since. What a stage holds after its `acquire` counts only where who waits for it updates it
    before it goes back. `tcgen05_mma` reads its accumulator where `accumulate` holds, which it does by
    default.

Why is this bad
    What stands there is left from an older fill of the stage, and looks right.

Example
    - acquire: xs
    - {tma_load: x, at: [loop * 64, 0], to: xs.x}
    - {when: loop == 0, then: [{tma_load: w, to: xs.w}]}     # the other stages, and later rounds, have none
    - commit: xs

Use instead
    - acquire: xs
    - {tma_load: x, at: [loop * 64, 0], to: xs.x}
    - {tma_load: w, to: xs.w}
    - commit: xs
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC406", "read-of-older-fill", Severity.ERROR, "a read finds bytes of an older fill")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.outside import stale

        yield stale(RULE.name, teller, alarm)
