"""Needs more columns of tensor memory than there are.

What it does
    Adds up the columns of all stages and copies, and compares what is allocated, a power of two from 32 on,
    for all CTAs that a multiprocessor shall hold (`ctas_per_sm`).

Why is this bad
    Tensor memory has 512 columns. An allocation of more waits for ever, one that other CTAs have left no room
    for until they end.

Example
    acc: {kind: tmem, stages: 3, dtype: f32, shape: [128, 256]}     # 768 columns

Use instead
    acc: {kind: tmem, stages: 2, dtype: f32, shape: [128, 256]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Memory, Program
from tsc.program.storage import allocated_columns

RULE = Rule(
    "TSC208", "too-much-tensor-memory", Severity.ERROR, "a CTA needs more tensor memory than there is"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the largest resource."""
    target, columns, ctas = program.target, program.tmem_columns, program.spec.launch.ctas_per_sm
    if target is None or not columns or not target.tmem_columns:
        return
    taken = allocated_columns(columns)
    if columns <= target.tmem_columns < taken * ctas:
        yield Finding(
            RULE.name,
            f"{ctas} CTAs allocate {taken} columns each, and a multiprocessor has {target.tmem_columns}",
            Place(("launch", "ctas_per_sm")),
            help=f"write `ctas_per_sm: {target.tmem_columns // taken}`, or use fewer columns",
        )
    if columns <= target.tmem_columns:
        return
    placed = [m for m in program.memories.values() if m.kind == "tmem" and m.over is None]
    parts = ", ".join(f"{m.name} {max(1, m.stages or 1) * m.copies} x {m.stage_bytes}" for m in placed)
    largest = max(placed, key=lambda m: m.copy_bytes * m.copies)
    yield Finding(
        RULE.name,
        f"needs {columns:,} of {target.tmem_columns} columns of tensor memory: {parts}",
        Place(largest.route, "key"),
        help=_mend(placed, columns, target.tmem_columns),
    )


def _mend(placed: list[Memory], columns: int, limit: int) -> str:
    """Say which ring could be shorter: the one that loses the fewest stages."""
    ways = []
    for one in placed:
        saved = one.stage_bytes * one.copies
        fewer = -(-(columns - limit) // saved) if saved else 0
        if 0 < fewer < (one.stages or 1):
            ways.append((fewer, saved * fewer, one.name))
    if not ways:
        return "give a stage fewer columns"
    fewer, saved, name = min(ways)
    stages = "one stage" if fewer == 1 else f"{fewer:,} stages"
    return f"{stages} less of `{name}` gives {columns - saved:,}"
