"""Needs more columns of tensor memory than there are.

What it does
    Adds up the columns of all stages and copies.

Why is this bad
    Tensor memory has 512 columns; the allocation would wait for ever.

Example
    acc: {kind: tmem, stages: 3, dtype: f32, shape: [128, 256]}     # 768 columns

Use instead
    acc: {kind: tmem, stages: 2, dtype: f32, shape: [128, 256]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC208", "too-much-tensor-memory", Severity.ERROR, "a CTA needs more tensor memory than there is"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the largest resource."""
    target, columns = program.target, program.tmem_columns
    if target is None or columns is None or not target.tmem_columns or columns <= target.tmem_columns:
        return
    placed = [m for m in program.memories.values() if m.kind == "tmem" and m.over is None]
    parts = ", ".join(f"{m.name} {max(1, m.stages or 1) * m.copies} x {m.stage_bytes}" for m in placed)
    largest = max(placed, key=lambda m: m.copy_bytes * m.copies)
    yield Finding(
        RULE.name,
        f"needs {columns:,} of {target.tmem_columns} columns of tensor memory: {parts}",
        Place(largest.route, "key"),
        help="use fewer stages, or fewer columns a stage",
    )
