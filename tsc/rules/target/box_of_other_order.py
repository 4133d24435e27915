"""Moves a box by TMA between a tensor and a buffer whose elements lie in different orders.

What it does
    Compares the order in which the dimensions of a tensor lie, `major` included, with that of the buffer
    as the step names it, with or without `.T`.

Why is this bad
    TMA copies runs of contiguous elements, and transposes nothing. A product can read an operand of 16
    bits across its rows instead.

Example
    b: {dtype: bf16, shape: [n, k], major: n}
    ab: {kind: smem, stages: 4, dtype: bf16, shape: [BN, BK]}
    - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab}

Use instead
    b: {dtype: bf16, shape: [n, k], major: n}
    ab: {kind: smem, stages: 4, dtype: bf16, shape: [BK, BN]}
    - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab.T}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import show
from tsc.model import Reference
from tsc.program.model import Program, Tensor
from tsc.rules.target.copies import Copy, copies, once

RULE = Rule("TSC542", "box-of-other-order", Severity.ERROR, "TMA would have to transpose a box")


def _buffer(copy: Copy) -> object:
    model = copy.step.model
    return getattr(model, "to", None) or getattr(model, "from_", None)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each buffer that lies in another order than a tensor it is moved from or to."""
    yield from once(
        (copy, _finding(program, copy, named))
        for copy in copies(program, "tma_load", "tma_store", "tma_reduce")
        if isinstance(named := _buffer(copy), Reference)
        and len(copy.buffer.shape) <= copy.tensor.rank
        and not _alike(copy.tensor, len(copy.buffer.shape), named.transposed)
    )


def _alike(tensor: Tensor, rank: int, transposed: bool) -> bool:
    covered = list(range(tensor.rank - rank, tensor.rank))
    if transposed and rank >= 2:
        covered[-2:] = covered[:-3:-1]
    order = [dim for dim in tensor.order if dim in covered]
    return not covered or (order == covered and covered[-1] == tensor.order[-1])


def _finding(program: Program, copy: Copy, named: Reference) -> Finding:
    tensor, rank, verb = copy.tensor, len(copy.buffer.shape), copy.step.verb
    along = tensor.rank - (2 if named.transposed and rank >= 2 else 1)
    fast, rows = (show(tensor.shape[dim]) for dim in (tensor.order[-1], along))
    message = f"`{tensor.name}` is contiguous along `{fast}`, `{named.text}` along `{rows}`"
    if fast == rows:
        message = f"`{tensor.name}` and `{named.text}` lie in different orders of dimensions"
    if rank >= 2 and _alike(tensor, rank, not named.transposed):
        bare = named.text.removesuffix(".T")
        turned = bare if named.transposed else f"{bare}.T"
        shape = _written(program, copy, named)
        help = f"lay `{bare}` out as `[{shape}]`, and write `{turned}` here and in the product that reads it"
    else:
        help = f"give the buffer the order in which `{tensor.name}` lies, or let threads move it"
    place = Place(copy.step.route, label=f"`{verb}` does not transpose")
    related = (Place(copy.buffer.route, "key", label="the box"),)
    return Finding(RULE.name, f"{message}, and TMA transposes nothing", place, related, help)


def _written(program: Program, copy: Copy, named: Reference) -> str:
    """The buffer's extents as the spec writes them, the last two exchanged."""
    model = program.spec.resources[named.name]
    buffers = getattr(model, "buffers", None) or {}
    shape = getattr(buffers.get(copy.buffer.name, model), "shape", None) or copy.buffer.shape
    texts = [it if isinstance(it, str) else str(it) if isinstance(it, int) else show(it) for it in shape]
    return ", ".join([*texts[:-2], *texts[:-3:-1]])
