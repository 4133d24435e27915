"""Moves a box by TMA that a tensor map cannot describe.

What it does
    Checks the box, which is the buffer, against the limits of tensor maps: an inner extent that is a
    multiple of 16 bytes, and 1 to 5 dimensions, not more than the tensor has. Boxes over 256 elements or
    over the swizzle span are cut up.

Why is this bad
    The driver refuses the tensor map, or the copy would not be aligned.

Example
    tile: {kind: smem, stages: 2, dtype: f32, shape: [66, 66]}     # rows of 264 bytes

Use instead
    tile: {kind: smem, stages: 2, dtype: f32, shape: [66, 68]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Buffer, Program, Tensor
from tsc.program.tree import Step
from tsc.rules.target.copies import copies

RULE = Rule("TSC521", "tma-box-does-not-fit", Severity.ERROR, "a tensor map cannot describe a box")

GRAIN, MOST_RANK, MOST_SPAN = 16, 5, 256  # CUDA driver API, cuTensorMapEncodeTiled


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each TMA copy whose box no tensor map describes."""
    for copy in copies(program, "tma_load", "tma_store", "tma_reduce"):
        yield from _judge(copy.step, copy.tensor, copy.buffer)


def _judge(step: Step, tensor: Tensor, buffer: Buffer) -> Iterator[Finding]:
    place = Place(step.route, label=f"moves `{buffer.name}`")
    related = (Place(buffer.route, "key", label="the box"),)
    if not 1 <= tensor.rank <= MOST_RANK:
        message = f"TMA moves tensors of 1 to {MOST_RANK} dimensions, and `{tensor.name}` has {tensor.rank}"
        yield Finding(RULE.name, message, place, related, help="merge dimensions, or load it otherwise")
        return
    if len(buffer.shape) > tensor.rank:
        message = f"`{buffer.name}` has {len(buffer.shape)} dimensions, and `{tensor.name}` has {tensor.rank}"
        yield Finding(
            RULE.name, message, place, related, help=f"give the buffer at most {tensor.rank} dimensions"
        )
        return
    if tensor.dtype != buffer.dtype:
        message = (
            f"TMA converts nothing, and `{tensor.name}` is {tensor.dtype}, `{buffer.name}` {buffer.dtype}"
        )
        yield Finding(RULE.name, message, place, related, help=f"make `{buffer.name}` {tensor.dtype}")
        return
    inner = buffer.shape[-1] if buffer.shape else 1
    width = inner * buffer.bits // 8
    if width % GRAIN:
        wider = -(-width // GRAIN) * GRAIN * 8 // buffer.bits
        yield Finding(
            RULE.name,
            f"the TMA box is {inner} x {buffer.bits // 8} = {width:,} bytes wide, no multiple of {GRAIN}",
            place,
            related,
            help=f"the next width that is: {wider}",
        )
