"""Moves a box by TMA that begins, or stores to a row that ends, inside 16 bytes.

What it does
    Looks at where TMA copies begin along the contiguous dimension of their tensor, and at where the rows
    end that `tma_store` and `tma_reduce` write. Both have to be multiples of 16 bytes: by what is known of
    the names, or by what the loader then asserts of the dims.

Why is this bad
    A copy that begins inside 16 bytes of a row faults on Hopper (illegal instruction, measured on an H200 for
    loads, stores and reductions of elements of 1, 2 and 4 bytes). A store that reaches past the end of a row
    leaves out whole 16 bytes only, and so writes up to 15 bytes behind it. Loads end anywhere.

Example
    - {tma_load: x, at: [0, block.x * 4], to: ring}                      # 4 bf16 are 8 bytes

Use instead
    - {tma_load: x, at: [0, block.x * 8], to: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.lowering import refusals

RULE = Rule(
    "TSC543",
    "box-inside-16-bytes",
    Severity.ERROR,
    "a TMA copy begins, or a row that it writes ends, inside 16 bytes",
)
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy that is not shown to begin, and store to end, at whole 16 bytes."""
    for refusal in refusals(program, RULE.name):
        yield Finding(RULE.name, refusal.sentence, Place(refusal.route), help=refusal.help)
