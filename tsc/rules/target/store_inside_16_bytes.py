"""Stores a box by TMA that begins, or a row that ends, inside 16 bytes.

What it does
    Looks at where `tma_store` and `tma_reduce` begin along the contiguous dimension of their tensor, and at
    where its rows end. Both have to be multiples of 16 bytes: by what is known of the names, or by what the
    loader then asserts of the dims.

Why is this bad
    A store that begins inside 16 bytes of a row faults on Hopper (illegal instruction, measured on an H200
    for elements of 1, 2 and 4 bytes). One that reaches past the end of a row leaves out whole 16 bytes only,
    and so writes up to 15 bytes behind it. Loads begin and end anywhere.

Example
    - {tma_store: y, at: [0, block.x * 4], from: ring}                   # 4 bf16 are 8 bytes

Use instead
    - {tma_store: y, at: [0, block.x * 8], from: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.lowering import refusals

RULE = Rule(
    "TSC543", "store-inside-16-bytes", Severity.ERROR, "a TMA store begins or ends inside 16 bytes of a row"
)
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each store that is not shown to begin and end at whole 16 bytes."""
    for refusal in refusals(program, RULE.name):
        yield Finding(RULE.name, refusal.sentence, Place(refusal.route), help=refusal.help)
