"""Copies in bulk what is not shown to lie inside the tensor.

What it does
    Bounds the first and the last element of each `bulk_load` and `bulk_store` by what is known of their
    names: the loops around it, the tile, promises about dims, and `rows`. Where elements of a tensor say
    where a piece begins, they have to say where it ends, too; that they lie in the tensor is trusted.

Why is this bad
    A bulk copy is never clipped: it would read or write whatever lies behind the tensor.

Example
    - {bulk_load: x, at: [loop * CHUNK], to: ring}                       # the last chunk may be shorter

Use instead
    - {bulk_load: x, at: [loop * CHUNK], to: ring, rows: "min(CHUNK, n - loop * CHUNK)"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.lowering import refusals

RULE = Rule("TSC526", "bulk-copy-outside", Severity.ERROR, "a bulk copy may reach outside its tensor")
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each bulk copy that is not shown to lie inside."""
    for refusal in refusals(program, RULE.name):
        yield Finding(
            RULE.name,
            refusal.sentence,
            Place(refusal.route),
            help=refusal.help
            or "give `rows`, or promise a `multiple_of` under `dims`: the last piece has to end inside",
        )
