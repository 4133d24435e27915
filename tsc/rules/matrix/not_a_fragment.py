"""Gives an operation on fragments registers that are none.

What it does
    Checks that `wgmma`, `stmatrix` and `ldmatrix` are given registers with a `shape`.

Why is this bad
    The instructions name rows and columns of a tile that a warpgroup shares out. `per_thread` values and
    `rows_of` have no place in it.

Example
    acc: {kind: registers, dtype: f32, per_thread: 64}
    - {wgmma: acc, a: ab.a, b: ab.b}

Use instead
    acc: {kind: registers, dtype: f32, shape: [64, 128]}
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.products import once

RULE = Rule("TSC220", "not-a-fragment", Severity.ERROR, "an operation on fragments is given other registers")

_VERBS = frozenset(("wgmma", "stmatrix", "ldmatrix", "tcgen05_ld", "tcgen05_st"))


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each operand that is registers without a shape."""
    yield from once(_all(program))


def _all(program: Program) -> Iterator[Finding]:
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task) if step.verb in _VERBS else ():
                registers = program.registers.get(touch.reference.name)
                if registers is None or registers.shape is not None or touch.kinds == {"tensor"}:
                    continue
                form = "per_thread" if registers.rows_of is None else "rows_of"
                yield Finding(
                    RULE.name,
                    f"`{step.verb}` works on a fragment, and `{registers.name}` is registers with `{form}`",
                    Place(touch.route),
                    (Place((*registers.route, form), "key", label="no tile with rows and columns"),),
                    help=f"give `{registers.name}` a `shape: [rows, columns]` in place of `{form}`",
                )
