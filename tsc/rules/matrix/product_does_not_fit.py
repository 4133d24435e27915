"""Multiplies operands whose extents do not fit together, or that no instruction takes.

What it does
    Checks each `wgmma` from shared memory and registers: both operands have two dimensions and equally much
    of k, a multiple of 32 bytes, `a` has the rows of the accumulator and `b` a row for each of its columns,
    and a warpgroup has 8 to 256 of these.

Why is this bad
    The instruction multiplies 64 rows by 8 to 256 columns over 32 bytes of k. It would read past an operand,
    or leave out a part of it.

Example
    b: {dtype: bf16, shape: [BN, BK]}
    - {wgmma: acc, a: ab.a, b: ab.b.T}      # as if `b` were [BK, BN]

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.products import DEPTH, Product, once, products, size

RULE = Rule("TSC222", "product-does-not-fit", Severity.ERROR, "the extents of a matrix product do not fit")

WIDEST = 256  # columns of an instruction


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each product and operand that do not fit."""
    yield from once(it for product in products(program) for it in _judge(product))


def _judge(product: Product) -> Iterator[Finding]:
    to, fragment, shape = product.to, product.fragment, product.to.shape
    if shape is None or len(shape) != 2:
        return  # has been reported
    own = Place(to.route, "key", label=f"{size(shape)} {to.dtype}")
    flat = [side for side in product.sides if len(side.shape) == 2]
    odd = [side for side in flat if side.rows != shape[side.key == "b"]]
    for side in product.sides:
        if side not in flat:
            message = f"an operand of `wgmma` has two dimensions, and `{side.text}` is {size(side.shape)}"
            yield Finding(RULE.name, message, Place(side.route), (side.place,), help="give it two extents")
    for side in odd:
        message = (
            f"`{to.name}` has {shape[0]:,} rows, and `{side.text}` {side.rows:,}"
            if side.key == "a"
            else f"`{to.name}` has {shape[1]:,} columns, and `{side.text}` {side.rows:,} rows, one for each"
        )
        other = next((it for it in flat if it is not side), None)
        turned = side.depth == shape[side.key == "b"] and (other is None or side.rows == other.depth)
        bare = side.text.removesuffix(".T")
        help = (
            f"write `{side.key}: {bare}{'' if side.transposed else '.T'}`"
            if turned
            else "give both as many rows"
        )
        yield Finding(RULE.name, message, Place(side.route), (side.place, own), help=help)
    if len(flat) == 2 and not odd and flat[0].depth != flat[1].depth:
        a, b = flat
        message = f"`{a.text}` has {a.depth:,} of k, and `{b.text}` {b.depth:,}"
        yield Finding(RULE.name, message, Place(b.route), (a.place, b.place), help="give both as much of k")
    elif flat and not odd and (flat[0].depth * flat[0].bits % (8 * DEPTH) or not flat[0].depth):
        one, grain = flat[0], 8 * DEPTH // flat[0].bits
        message = f"`{one.text}` has {one.depth:,} of k, no multiple of {grain} {one.dtype} ({DEPTH} bytes)"
        help = f"the next depth that is: {max(1, -(-one.depth // grain)) * grain:,}"
        yield Finding(RULE.name, message, Place(one.route), (one.place,), help=help)
    if fragment is not None and fragment.columns > WIDEST:
        message = (
            f"a warpgroup multiplies up to {WIDEST} columns, and has {fragment.columns:,} of `{to.name}`"
        )
        help = f"write `split: columns` and `warps: {4 * -(-shape[1] // WIDEST)}`, or fewer columns"
        yield Finding(RULE.name, message, Place((*product.step.route, "wgmma")), (own,), help=help)
