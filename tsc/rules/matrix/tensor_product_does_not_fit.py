"""Multiplies into tensor memory what does not fit together, or what no instruction takes.

What it does
    Checks each `tcgen05_mma`: both operands have two dimensions and equally much of k, a multiple of 32
    bytes, `a` has the rows of the accumulator and `b` a row for each of its columns (a pair of CTAs: for each
    of its half). There are 64 or 128 rows (in a pair 128 in each CTA), and up to 256 columns, in steps of 8
    for 64 rows, of 16 for 128 and of 32 in a pair.

Why is this bad
    The instruction knows these shapes alone. It would read past an operand, or leave out a part of it.

Example
    acc: {kind: tmem, dtype: f32, shape: [96, 256]}
    - {tcgen05_mma: acc, a: ab.a, b: ab.b}

Use instead
    acc: {kind: tmem, dtype: f32, shape: [128, 256]}
    - {tcgen05_mma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.tensor_products import MOST, grain, rows_of
from tsc.program.model import Program
from tsc.rules.matrix.products import DEPTH, once, size
from tsc.rules.matrix.tensor_products import TensorProduct, tensor_products

RULE = Rule(
    "TSC232", "tensor-product-does-not-fit", Severity.ERROR, "the extents of a `tcgen05_mma` do not fit"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each product and operand that do not fit."""
    yield from once(it for product in tensor_products(program) for it in _judge(product))


def _judge(product: TensorProduct) -> Iterator[Finding]:
    to, flat = product.to, [side for side in product.sides if len(side.shape) == 2]
    for side in product.sides:
        if side not in flat:
            message = f"`tcgen05_mma` multiplies matrices, and `{side.text}` is {size(side.shape)}"
            yield Finding(RULE.name, message, Place(side.route), (side.place,), help="give it two extents")
    if len(to.shape) != 2:
        message = f"`tcgen05_mma` fills rows and columns, and `{to.name}` is {size(to.shape)}"
        yield Finding(RULE.name, message, product.place, (product.declared,), help="give it two extents")
        return
    odd = [(side, found) for side in flat if (found := product.misfit(side))]
    if len(odd) == 2 and (flat[1].rows, flat[0].rows * product.group) == to.shape:
        message = f"`{to.name}` is {size(to.shape)}, and `{flat[0].text}` has {flat[0].rows:,} rows"
        where = Place(flat[0].route)
        yield Finding(RULE.name, message, where, (product.declared,), help="exchange `a` and `b`")
        return
    for side, (message, help) in odd:
        yield Finding(RULE.name, message, Place(side.route), (side.place, product.declared), help=help)
    if odd:
        return
    if len(flat) == 2 and flat[0].depth != flat[1].depth:
        a, b = flat
        message = f"`{a.text}` has {a.depth:,} of k, and `{b.text}` {b.depth:,}"
        yield Finding(RULE.name, message, Place(b.route), (a.place, b.place), help="give both as much of k")
    elif flat and (flat[0].depth * flat[0].bits % (8 * DEPTH) or not flat[0].depth):
        one, step = flat[0], 8 * DEPTH // flat[0].bits
        message = f"`{one.text}` has {one.depth:,} of k, no multiple of {step} {one.dtype} ({DEPTH} bytes)"
        help = f"the next depth that is: {max(1, -(-one.depth // step)) * step:,}"
        yield Finding(RULE.name, message, Place(one.route), (one.place,), help=help)
    (rows, columns), known = to.shape, rows_of(product.group)
    message, step = "", grain(rows, product.group)
    if rows not in known:
        message = f"`tcgen05_mma` makes {' or '.join(map(str, known))} rows, and `{to.name}` has {rows:,}"
        help = f"give `{to.name}` {min(known, key=lambda it: (abs(it - rows), -it))} rows, and as many of `a`"
    elif columns % step or not step <= columns <= MOST:
        message = f"`tcgen05_mma` makes {step} to {MOST} columns in steps of {step}, and here are {columns:,}"
        wanted = min(MOST, max(1, -(-columns // step)) * step)
        help = f"give `{to.name}` {wanted} columns, and as many rows of `b`"
    if message:
        yield Finding(RULE.name, message, product.place, (product.declared,), help=help)
