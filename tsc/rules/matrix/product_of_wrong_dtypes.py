"""Multiplies dtypes that the tensor core does not, or adds them up in one that it cannot.

What it does
    Checks the operands of each `wgmma` and `tcgen05_mma`, both bf16, f16 or tf32, or each of them e4m3 or
    e5m2, and its accumulator: f32, or with `wgmma` f16 for operands of f16, e4m3 and e5m2.

Why is this bad
    There is no such instruction, and bits read as another type are other numbers.

Example
    acc: {kind: registers, dtype: f16, shape: [64, 128]}
    - {wgmma: acc, a: ab.a, b: ab.b}        # of bf16

Use instead
    acc: {kind: registers, dtype: f32, shape: [64, 128]}
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.products import Product, once, products
from tsc.rules.matrix.tensor_products import TensorProduct, tensor_products
from tsc.spec.wording import series

RULE = Rule("TSC223", "product-of-wrong-dtypes", Severity.ERROR, "no matrix product of these dtypes exists")

_BYTES = frozenset(("e4m3", "e5m2"))
# PTX ISA, wgmma: what adds up in which.
_BOTH = ("f32", "f16")
SUMS = {"bf16": ("f32",), "f16": _BOTH, "tf32": ("f32",), "e4m3": _BOTH, "e5m2": _BOTH}
_MENDS = {
    "f32": "make it, and the tensor that it comes from, `tf32`",
    "i8": "make it e4m3; products of integers are not part of the language",
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each operand, pair and accumulator of a wrong dtype."""
    yield from once(it for product in products(program) for it in _judge(product, SUMS))
    wide = {dtype: ("f32",) for dtype in SUMS}
    plain = (product for product in tensor_products(program) if not product.scaled)
    yield from once(it for product in plain for it in _judge(product, wide))


def _judge(product: Product | TensorProduct, sums: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    verb = product.step.verb
    wrong = [side for side in product.sides if side.dtype not in SUMS]
    for side in wrong:
        yield Finding(
            RULE.name,
            f"`{verb}` multiplies {series(tuple(SUMS))}, and `{side.text}` is {side.dtype}",
            Place(side.route),
            (side.place,),
            help=_MENDS.get(side.dtype, f"`convert` it into one of {series(tuple(SUMS), 'or')} first"),
        )
    a, b, to = product.a, product.b, product.to
    if wrong or not product.sides:
        return
    if a is not None and b is not None and a.dtype != b.dtype and not {a.dtype, b.dtype} <= _BYTES:
        message = f"`{a.text}` is {a.dtype} and `{b.text}` {b.dtype}, and only e4m3 and e5m2 mix"
        yield Finding(
            RULE.name,
            message,
            Place(b.route),
            (a.place, b.place),
            help=f"make both {a.dtype}, or both {b.dtype}",
        )
        return
    dtype = product.sides[0].dtype
    if to.dtype not in sums[dtype]:
        yield Finding(
            RULE.name,
            f"products of {dtype} add up in {series(sums[dtype], 'or')}, and `{to.name}` is {to.dtype}",
            Place((*product.step.route, verb)),
            (Place((*to.route, "dtype"), label="the accumulator"), product.sides[0].place),
            help=f"make `{to.name}` f32" + (", and `convert` it afterwards" if to.dtype in SUMS else ""),
        )
