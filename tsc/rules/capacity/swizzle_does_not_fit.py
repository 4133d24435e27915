"""Swizzles rows that the span does not divide.

What it does
    Checks a written `swizzle` of 32, 64 or 128 bytes against the inner extent of its buffer.

Why is this bad
    Swizzled rows are cut into spans; a rest would lie outside the pattern.

Example
    xs: {kind: smem, dtype: bf16, shape: [64, 24], swizzle: 128}     # rows of 48 bytes

Use instead
    xs: {kind: smem, dtype: bf16, shape: [64, 64], swizzle: 128}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.storage import derived_swizzle

RULE = Rule("TSC211", "swizzle-does-not-fit", Severity.ERROR, "a swizzle span does not divide its rows")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each swizzled buffer whose rows are no multiple of the span."""
    for memory in program.memories.values():
        for buffer in memory.buffers:
            row = buffer.shape[-1] * buffer.bits // 8 if buffer.shape else 0
            if buffer.swizzle and row % buffer.swizzle:
                fits = derived_swizzle(row)
                span = f"its swizzle spans {buffer.swizzle} bytes"
                yield Finding(
                    RULE.name,
                    f"`{buffer.name}` has rows of {row:,} bytes, and {span}",
                    Place((*buffer.route, "swizzle")),
                    help=f"write `swizzle: {fits or 'none'}`, or make the rows fill {buffer.swizzle} bytes",
                )
