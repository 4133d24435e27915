"""Copies a piece in bulk that is no multiple of 16 bytes, or not in one piece.

What it does
    Checks that the buffer of a `bulk_load` or `bulk_store` is a multiple of 16 bytes, of the tensor's
    dtype, and that its rows follow each other in the tensor without gaps: one row, or whole rows of a
    tensor that is `packed`.

Why is this bad
    A bulk copy moves one contiguous piece in units of 16 bytes.

Example
    xs: {kind: smem, stages: 2, dtype: bf16, shape: [20]}     # 40 bytes

Use instead
    xs: {kind: smem, stages: 2, dtype: bf16, shape: [24]}
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import equal, parse
from tsc.program.model import Buffer, Program, Tensor
from tsc.program.tree import Step
from tsc.rules.target.copies import copies, once

RULE = Rule(
    "TSC522", "bulk-copy-does-not-fit", Severity.ERROR, "a bulk copy is not one piece of 16-byte units"
)

GRAIN = 16  # PTX ISA, cp.async.bulk


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each buffer whose bulk copies are not one piece."""
    moved = copies(program, "bulk_load", "bulk_store")
    yield from once((copy, it) for copy in moved for it in _judge(copy.step, copy.tensor, copy.buffer))


def _judge(step: Step, tensor: Tensor, buffer: Buffer) -> Iterator[Finding]:
    place, related = Place(step.route), (Place(buffer.route, "key", label="the piece"),)
    size = prod(buffer.shape) * buffer.bits // 8
    if tensor.dtype != buffer.dtype:
        message = (
            f"a bulk copy converts nothing: `{tensor.name}` is {tensor.dtype}, `{buffer.name}` {buffer.dtype}"
        )
        yield Finding(RULE.name, message, place, related, help=f"make `{buffer.name}` {tensor.dtype}")
    elif buffer.swizzle:
        message = f"a bulk copy keeps the order of bytes, and `{buffer.name}` is swizzled"
        yield Finding(RULE.name, message, place, related, help="write `swizzle: none`, or use TMA")
    elif size % GRAIN:
        message = f"the piece is {size:,} bytes, no multiple of {GRAIN}"
        yield Finding(RULE.name, message, place, related, help="make the buffer a multiple of 16 bytes")
    elif len(buffer.shape) > tensor.rank:
        message = f"`{buffer.name}` has {len(buffer.shape)} dimensions, and `{tensor.name}` has {tensor.rank}"
        yield Finding(
            RULE.name, message, place, related, help=f"give the buffer at most {tensor.rank} dimensions"
        )
    else:
        yield from _gaps(step, tensor, buffer)


def _gaps(step: Step, tensor: Tensor, buffer: Buffer) -> Iterator[Finding]:
    """Rows follow each other if the tensor is packed and every extent inside the outermost one is its own."""
    outer = next((i for i, extent in enumerate(buffer.shape) if extent > 1), len(buffer.shape) - 1)
    own = tensor.shape[tensor.rank - len(buffer.shape) :]
    place, related = Place(step.route), (Place(buffer.route, "key", label="the piece"),)
    for i in range(outer + 1, len(buffer.shape)):
        if not equal(own[i], parse(buffer.shape[i])):
            there = f"{own[i].text} in `{tensor.name}`"
            yield Finding(
                RULE.name,
                f"rows have {buffer.shape[i]:,} elements in `{buffer.name}`, {there}",
                place,
                related,
                help="copy row by row, use TMA, or fix the extent of the tensor",
            )
            return
    if outer + 1 < len(buffer.shape) and not tensor.packed:
        yield Finding(
            RULE.name,
            f"several rows of `{tensor.name}` are one piece only without gaps between them",
            place,
            (Place(tensor.route, "key", label="may have gaps"), *related),
            help=f"promise `packed: true` of `{tensor.name}`, copy row by row, or use TMA",
        )
