"""Asks for an alignment that is no power of two, or for rows that end inside a byte.

What it does
    Checks `align` of shared memory and of its buffers, and the rows of buffers of 4-bit elements.

Why is this bad
    Addresses are computed by masks, and memory is addressed by bytes.

Example
    xs: {kind: smem, dtype: bf16, shape: [64], align: 96}

Use instead
    xs: {kind: smem, dtype: bf16, shape: [64], align: 128}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.resources import Smem

RULE = Rule(
    "TSC210", "misaligned-buffer", Severity.ERROR, "an alignment is no power of two, or rows are no bytes"
)

MOST = 1024  # where the shared memory of a CTA begins


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each alignment that is no power of two up to 1,024, and for rows of half bytes."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, Smem):
            continue
        asked: list[tuple[Route, Expr | None]] = [(("resources", name, "align"), model.align)]
        asked += [
            (("resources", name, "buffers", k, "align"), b.align) for k, b in (model.buffers or {}).items()
        ]
        for route, expr in asked:
            value = program.values.integer(expr, route)
            if value is not None and (value < 1 or value & (value - 1) or value > MOST):
                better = min(MOST, 1 << max(0, value - 1).bit_length()) if value > 0 else 16
                yield Finding(
                    RULE.name,
                    f"`align` is {value:,}, and an alignment is a power of two of at most {MOST:,} bytes",
                    Place(route),
                    help=f"write `align: {better}`",
                )
    for memory in program.memories.values():
        for buffer in memory.buffers:
            inner = buffer.shape[-1] if buffer.shape else 1
            if memory.kind == "smem" and inner * buffer.bits % 8:
                yield Finding(
                    RULE.name,
                    f"a row of `{buffer.name}` has {inner:,} elements of {buffer.bits} bits, no whole bytes",
                    Place((*buffer.route, "shape")),
                    help=f"make the last extent even, for instance {inner + 1:,}",
                )
