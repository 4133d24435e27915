"""Scales a product by factors that do not belong to its operands, or copies them into tensor memory in parts.

What it does
    Checks the `scale_a` and `scale_b` of each `tcgen05_mma` (both or neither; dtypes that go with those of
    the operands; 4 columns for each 128 rows and 4 factors; 128 rows, and 128 or 256 columns), and that each
    `tcgen05_cp` copies whole blocks of 512 bytes.

Why is this bad
    The instruction takes the factor of row r from a fixed place in tensor memory. It would scale by what
    happens to be there.

Example
    scales: {kind: tmem, dtype: e4m3, shape: [32, 64]}        # of 128 rows and 256 values of k
    - {tcgen05_mma: acc, a: ab.a, b: ab.b, scale_a: scales}

Use instead
    scales: {kind: tmem, buffers: {a: {dtype: e4m3, shape: [32, 64]}, b: {dtype: e4m3, shape: [32, 64]}}}
    - {tcgen05_mma: acc, a: ab.a, b: ab.b, scale_a: scales.a, scale_b: scales.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.products import once
from tsc.rules.matrix.scales import copies_of, misfits

RULE = Rule("TSC236", "scales-do-not-fit", Severity.ERROR, "scale factors are not those of the operands")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each product with wrong scale factors, and each copy of a part of a block."""
    yield from once(
        Finding(RULE.name, message, Place((*step.route, key) if key else step.route), help=help)
        for step, key, message, help in (*misfits(program), *copies_of(program))
    )
