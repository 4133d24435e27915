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
from tsc.model import Reference
from tsc.ops.tma_prefetch import TmaPrefetch
from tsc.program.model import Program, Tensor
from tsc.program.storage import BITS
from tsc.rules.matrix.scales import blocks_written
from tsc.rules.target.copies import Copy, copies, once

RULE = Rule("TSC521", "tma-box-does-not-fit", Severity.ERROR, "a tensor map cannot describe a box")

GRAIN, MOST_RANK = 16, 5  # CUDA driver API, cuTensorMapEncodeTiled


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each buffer and each prefetch whose box no tensor map describes."""
    moved = list(copies(program, "tma_load", "tma_store", "tma_reduce"))
    fitting = {copy.buffer.route: copy.tensor for copy in moved if copy.tensor.dtype == copy.buffer.dtype}
    yield from once(
        (copy, it) for copy in moved for it in _judge(program, copy, fitting.get(copy.buffer.route))
    )
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, TmaPrefetch):
                tensor = program.tensors.get(step.model.tma_prefetch.name)
                inner = (
                    program.values.integer(step.model.box[-1], step.route, step.env) if step.model.box else 1
                )
                if tensor is not None and inner is not None:
                    yield from _width(inner, BITS[tensor.dtype], Place((*step.route, "box")))


def _judge(program: Program, copy: Copy, other: Tensor | None) -> Iterator[Finding]:
    step, tensor, buffer = copy.step, copy.tensor, copy.buffer
    # As the step writes it: a buffer `a` of a ring is `ab.a`, and often has its tensor's name.
    written = getattr(step.model, "to", None) or getattr(step.model, "from_", None)
    named = written.text if isinstance(written, Reference) else buffer.name
    place = Place(step.route, label=f"moves `{named}`")
    related = (Place(buffer.route, "key", label="the box"),)
    if not 1 <= tensor.rank <= MOST_RANK:
        message = f"TMA moves tensors of 1 to {MOST_RANK} dimensions, and `{tensor.name}` has {tensor.rank}"
        yield Finding(RULE.name, message, place, related, help="merge dimensions, or load it otherwise")
        return
    if len(buffer.shape) > tensor.rank:
        message = f"`{named}` has {len(buffer.shape)} dimensions, and `{tensor.name}` has {tensor.rank}"
        help = f"give the buffer at most {tensor.rank} dimensions"
        yield Finding(RULE.name, message, place, related, help=help)
        return
    if tensor.dtype != buffer.dtype:
        message = f"TMA converts nothing, and `{tensor.name}` is {tensor.dtype}, `{named}` {buffer.dtype}"
        mend = f"make `{named}` {tensor.dtype}"
        if other is not None:  # then the other tensor would not fit
            mend = f"make `{tensor.name}` {buffer.dtype} as `{other.name}` is, or convert between two buffers"
        yield Finding(RULE.name, message, place, related, help=mend)
        return
    inner = buffer.shape[-1] if buffer.shape else 1
    yield from _width(inner, buffer.bits, place, related, blocks_written(program).get(buffer.route, ""))


def _width(
    inner: int, bits: int, place: Place, related: tuple[Place, ...] = (), mend: str = ""
) -> Iterator[Finding]:
    width = inner * bits // 8
    if width % GRAIN and inner > 0:
        wider = -(-width // GRAIN) * GRAIN * 8 // bits
        each = f"{bits // 8} =" if bits >= 8 else f"{bits} bits ="
        yield Finding(
            RULE.name,
            f"the TMA box is {inner:,} x {each} {width:,} bytes wide, no multiple of {GRAIN}",
            place,
            related,
            help=mend or f"the next width that is: {wider:,}",
        )
