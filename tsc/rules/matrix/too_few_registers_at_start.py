"""Multiplies more columns at a time than the registers that a thread starts with allow.

What it does
    Adds up what a thread needs for each `wgmma`: a register for every two columns of f32 or four of f16, four
    for an `a` in registers, and 26 for all else. Compares with what it has when the kernel starts: 65,536
    shared by the threads of `ctas_per_sm` CTAs, a multiple of 8.

Why is this bad
    The assembler refuses the instruction (C7602): it goes by the count at the start, whatever `registers` of
    the task says.

Example
    math: {warps: 12, ...}                 # 512 threads with the loader's start with 128
    acc: {kind: registers, dtype: f32, shape: [192, 256]}

Use instead
    acc: {kind: registers, dtype: f32, shape: [192, 200]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.emit.roles import REGISTERS, launch_registers
from tsc.program.fragments import ROWS
from tsc.program.model import Program
from tsc.program.storage import BITS
from tsc.rules.matrix.product_does_not_fit import WIDEST
from tsc.rules.matrix.products import Product, once, products

RULE = Rule(
    "TSC229",
    "too-few-registers-at-start",
    Severity.ERROR,
    "a product needs more registers than threads start with",
)

BESIDE, OPERAND = 26, 4  # as the assembler of CUDA 13 counts them, for every N and dtype


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each product that the assembler would refuse."""
    if program.threads:
        yield from once(it for product in products(program) for it in _judge(program, product))


def _judge(program: Program, product: Product) -> Iterator[Finding]:
    fragment, a = product.fragment, product.a
    if fragment is None or fragment.columns > WIDEST or a is None:
        return
    threads, has = program.threads or 0, launch_registers(program)
    beside = BESIDE + (OPERAND if a.registers is not None else 0)
    bits = BITS[fragment.dtype]
    needs = fragment.columns * bits // ROWS + beside
    if needs <= has:
        return
    columns = (has - beside) * ROWS // bits // 8 * 8
    fits = REGISTERS // program.spec.launch.ctas_per_sm // (-(-needs // 8) * 8) // 128 * 128
    yield Finding(
        RULE.name,
        f"a product of {fragment.columns:,} columns of {fragment.dtype} needs {needs} registers a thread at "
        f"the start, and {threads:,} threads start with {has}",
        Place((*product.step.route, "wgmma")),
        (Place(product.to.route, "key", label=f"{fragment.columns:,} columns a warpgroup"),),
        help=(f"give a warpgroup at most {columns} columns" if columns >= 8 else "give it fewer columns")
        + (f", or the CTA at most {fits:,} threads" if 0 < fits < threads else ""),
    )
