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
from tsc.rules.matrix.products import DEPTH, Product, Side, once, products, size

RULE = Rule("TSC222", "product-does-not-fit", Severity.ERROR, "the extents of a matrix product do not fit")

WIDEST = 256  # columns of an instruction


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each product and operand that do not fit."""
    yield from once(it for product in products(program) for it in _judge(product))


def _judge(product: Product) -> Iterator[Finding]:
    to, fragment = product.to, product.fragment
    if to.shape is None or len(to.shape) != 2:
        return  # has been reported
    own = Place(to.route, "key", label=f"{sizeto.shape} {to.dtype}")
    flat = [side for side in product.sides if len(side.shape) == 2]
    for side in product.sides:
        if side not in flat:
            message = f"an operand of `wgmma` has two dimensions, and `{side.text}` is {size(side.shape)}"
            yield Finding(RULE.name, message, Place(side.route), (side.place,), help="give it two extents")
        elif side.rows != (extent := to.shape[side.key == "b"]):
            word = "columns" if side.key == "b" else "rows"
            other = _turned(side) if side.depth == extent else f"make one of them {min(side.rows, extent):,}"
            message = f"`{to.name}` has {extent:,} {word}, and `{side.text}` {side.rows:,} rows of k"
            yield Finding(RULE.name, message, Place(side.route), (side.place, own), help=other)
    if len(flat) == 2 and flat[0].depth != flat[1].depth:
        a, b = flat
        message = f"`{a.text}` has {a.depth:,} of k, and `{b.text}` {b.depth:,}"
        help = _turned(b) if b.rows == a.depth else "give both equally much"
        yield Finding(RULE.name, message, Place(b.route), (a.place, b.place), help=help)
    elif flat and (flat[0].depth * flat[0].bits % (8 * DEPTH) or not flat[0].depth):
        one, grain = flat[0], 8 * DEPTH // flat[0].bits
        yield Finding(
            RULE.name,
            f"`{one.text}` has {one.depth:,} of k, no multiple of {grain} {one.dtype} ({DEPTH} bytes)",
            Place(one.route),
            (one.place,),
            help=f"the next depth that is: {max(1, -(-one.depth // grain)) * grain:,}",
        )
    if fragment is not None and fragment.columns > WIDEST:
        message = f"a warpgroup multiplies up to {WIDEST} columns, and has {fragment.columns:,} of `{to.name}`"
        help = f"write `split: columns` and `warps: {4 * -(-to.shape[1] // WIDEST)}`, or fewer columns"
        yield Finding(RULE.name, message, Place((*product.step.route, "wgmma")), (own,), help=help)


def _turned(side: Side) -> str:
    return f"write `{side.key}: {side.text.removesuffix('.T')}{'' if side.transposed else '.T'}`"
