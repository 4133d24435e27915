"""Reads an operand of a matrix product along the dimension that it cannot be read along.

What it does
    Checks operands with `.T`: those of e4m3, e5m2 and tf32, and all that lie in registers, have k as their
    last dimension.

Why is this bad
    Only 16-bit elements in shared memory can be transposed on their way into the tensor core.

Example
    b: {dtype: e4m3, shape: [BK, BN]}
    - {wgmma: acc, a: ab.a, b: ab.b.T}

Use instead
    b: {dtype: e4m3, shape: [BN, BK]}
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.products import Side, once, products

RULE = Rule(
    "TSC224", "operand-of-wrong-major", Severity.ERROR, "an operand of a product is transposed and cannot be"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each transposed operand that only exists with k last."""
    wrong = (
        side
        for product in products(program)
        for side in product.sides
        if side.transposed and len(side.shape) == 2 and (side.registers is not None or side.bits != 16)
    )
    yield from once(map(_finding, wrong))


def _finding(side: Side) -> Finding:
    bare = side.text.removesuffix(".T")
    rows = f"[{side.rows}, {side.depth}]"
    if side.buffer is None:
        message = f"an operand in registers has k along its columns, and `{bare}` is transposed"
        help = f"write `{side.key}: {bare}`"
    else:
        message = (
            f"`{side.text}` is read across its rows, which 16-bit elements can be, and it is {side.dtype}"
        )
        help = f"lay `{bare}` out as {rows}, and write `{side.key}: {bare}`"
    return Finding(RULE.name, message, Place(side.route), (side.place,), help=help)
