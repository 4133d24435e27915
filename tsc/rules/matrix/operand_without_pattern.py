"""Multiplies from shared memory that is not swizzled, or begins within a span of its swizzle.

What it does
    Checks that each buffer which `wgmma` or `tcgen05_mma` reads has a swizzle, which asks for rows of a
    multiple of 32 bytes, and that each warpgroup which has its own columns of a transposed `b` begins at a
    span of its own.

Why is this bad
    The instruction finds its operands by a descriptor, which knows three swizzles. Without one it wants
    blocks of 8 rows of 16 bytes, each in one piece, and rows that lie one after the other are not that.

Example
    b: {dtype: bf16, shape: [BN, BK], swizzle: none}

Use instead
    b: {dtype: bf16, shape: [BN, BK]}             # 128 for rows of 128 bytes
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Buffer, Program
from tsc.program.storage import derived_swizzle
from tsc.rules.matrix.products import DEPTH, Product, Side, once, products
from tsc.rules.matrix.tensor_products import TensorProduct, tensor_products

RULE = Rule(
    "TSC225", "operand-without-pattern", Severity.ERROR, "no descriptor describes an operand of a product"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each operand that lies in no pattern, or is cut within one."""
    found: tuple[Product | TensorProduct, ...] = (*products(program), *tensor_products(program))
    yield from once(it for product in found for it in _judge(product))


def _judge(product: Product | TensorProduct) -> Iterator[Finding]:
    for one in product.sides:
        cut = not one.transposed and len(one.shape) == 2 and one.depth * one.bits % (8 * DEPTH)
        if one.buffer is not None and not one.buffer.swizzle and not cut:  # else its depth is at fault
            yield _flat(one, one.buffer)
    side, fragment = product.b, product.fragment
    if side is None or side.buffer is None or not side.transposed or fragment is None:
        return  # who multiplies for the whole CTA shares nothing out
    each, span = fragment.columns * side.bits // 8, side.buffer.swizzle
    if fragment.split == "columns" and fragment.warpgroups > 1 and span and each % span:
        fits = derived_swizzle(each)
        yield Finding(
            RULE.name,
            f"each warpgroup reads {fragment.columns:,} columns of `{side.text}`, {each:,} bytes a row, "
            f"and its swizzle spans {span}",
            Place(side.route),
            (side.place, Place((*product.to.route, "split"), label="what they share out")),
            help=f"write `swizzle: {fits}` for it" if fits else "write `split: rows`, or make it wider",
        )


def _flat(side: Side, buffer: Buffer) -> Finding:
    row = buffer.shape[-1] * buffer.bits // 8 if buffer.shape else 0
    fits, grain = derived_swizzle(row), DEPTH * 8 // buffer.bits
    wider = -(-buffer.shape[-1] // grain) * grain if buffer.shape else grain
    return Finding(
        RULE.name,
        f"`{side.text}` has rows of {row:,} bytes without a swizzle, and no descriptor describes these",
        Place(side.route),
        (Place((*buffer.route, "swizzle" if fits else "shape"), label=f"rows of {row:,} bytes"),),
        help=f"write `swizzle: {fits}` for it, or leave `swizzle` out"
        if fits
        else f"make its rows a multiple of {DEPTH} bytes: {wider:,} {buffer.dtype} instead of "
        f"{buffer.shape[-1] if buffer.shape else 1:,}",
    )
