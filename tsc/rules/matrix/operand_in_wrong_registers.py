"""Multiplies an `a` from registers that do not hold it as the instruction reads it.

What it does
    Checks each `wgmma` with a fragment as `a`: it is of 16 bits, and where several warpgroups multiply, they
    share out its rows and those of the accumulator.

Why is this bad
    Each thread gives the instruction the values that it has. Those of a 16-bit fragment are the right ones,
    because operand and accumulator are laid out alike; of 8 and 32 bits they are not, and registers do not
    move between threads.

Example
    acc: {kind: registers, dtype: f32, shape: [128, 256], split: columns}
    rows: {kind: registers, dtype: bf16, shape: [128, 64]}
    - {wgmma: acc, a: rows, b: ab.b}

Use instead
    acc: {kind: registers, dtype: f32, shape: [128, 256]}
    rows: {kind: registers, dtype: bf16, shape: [128, 64]}
    - {wgmma: acc, a: rows, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.product_of_wrong_dtypes import SUMS
from tsc.rules.matrix.products import Product, once, products

RULE = Rule(
    "TSC231", "operand-in-wrong-registers", Severity.ERROR, "registers do not hold an operand as it is read"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each operand in registers of another layout."""
    yield from once(it for product in products(program) for it in _judge(product))


def _judge(product: Product) -> Iterator[Finding]:
    a = product.a
    if a is None or a.registers is None:
        return
    if a.bits != 16 and a.dtype in SUMS:
        message = f"`{a.text}` lies in registers as accumulators do, and an `a` of {a.dtype} lies otherwise"
        yield Finding(RULE.name, message, Place(a.route), (a.place,), help="multiply it from shared memory")
    several = (product.task.warps or 0) >= 8
    for one in (it for it in (product.to, a.registers) if several and it.split != "rows"):
        message = f"each warpgroup multiplies rows of `{a.text}`, and `{one.name}` is split by columns"
        place = Place((*one.route, "split"), label="columns")
        yield Finding(RULE.name, message, Place(a.route), (place,), help="write `split: rows`")
