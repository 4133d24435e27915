"""Reads an operand of a matrix product along the dimension that it cannot be read along.

What it does
    Checks operands with `.T`: those of tf32, with `wgmma` those of e4m3 and e5m2, and all that lie in
    registers or tensor memory, have k as their last dimension.

Why is this bad
    Only narrow elements in shared memory can be transposed on their way into the tensor core: those of 16
    bits, and with `tcgen05_mma` of 8.

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
from tsc.rules.matrix.products import Product, Side, once, products
from tsc.rules.matrix.tensor_products import TensorProduct, tensor_products

RULE = Rule(
    "TSC224", "operand-of-wrong-major", Severity.ERROR, "an operand of a product is transposed and cannot be"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each transposed operand that only exists with k last."""
    found: list[tuple[Product | TensorProduct, str, tuple[int, ...]]]
    found = [(it, "16-bit", (16,)) for it in products(program)]
    found.extend((it, "narrow", (8, 16)) for it in tensor_products(program))
    wrong = (
        (side, which)
        for product, which, widths in found
        for side in product.sides
        if side.transposed and len(side.shape) == 2 and (side.buffer is None or side.bits not in widths)
    )
    yield from once(_finding(side, which) for side, which in wrong)


def _finding(side: Side, which: str) -> Finding:
    bare = side.text.removesuffix(".T")
    rows = f"[{side.rows}, {side.depth}]"
    if side.buffer is None:
        where = "registers" if side.held is None else "tensor memory"
        message = f"an operand in {where} has k along its columns, and `{bare}` is transposed"
        help = f"write `{side.key}: {bare}`"
    else:
        message = (
            f"`{side.text}` is read across its rows, which {which} elements can be, and it is {side.dtype}"
        )
        help = f"lay `{bare}` out as {rows}, and write `{side.key}: {bare}`"
    return Finding(RULE.name, message, Place(side.route), (side.place,), help=help)
