"""Writes staging memory from which a store may still be reading.

What it does
    Follows each `tma_store`, `tma_reduce` and `bulk_store` to the event that proves its read done, the
    `store_wait` of its task or the `acquire` of a store ring, and checks that no thread writes the bytes
    before.

Why is this bad
    The engine reads long after the step that starts it. What it has not read yet is stored as the next piece,
    twice, and the piece itself is lost.

Example
    - {stmatrix: out, from: acc, at: [0, 0]}
    - {tma_store: d, at: [0, 0], from: out}
    - {stmatrix: out, from: acc, at: [0, 64]}

Use instead
    - {stmatrix: out, from: acc, at: [0, 0]}
    - {tma_store: d, at: [0, 0], from: out}
    - store_wait: 0
    - {stmatrix: out, from: acc, at: [0, 64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule("TSC407", "staging-reused", Severity.ERROR, "staging memory is written while a store may read it")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of steps."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.meeting import race

        yield race(RULE.name, teller, alarm)
