"""Moves a fragment by `stmatrix` or `ldmatrix` into a buffer that is not made of its blocks.

What it does
    Checks that the buffer has 16-bit elements, those of the fragment unless `stmatrix` rounds f32, and two
    dimensions, and that what moves is a multiple of 64 rows and of 8 columns.

Why is this bad
    The instructions move 8 x 8 blocks of 16-bit elements, and all warps of a warpgroup, which have 16 rows
    each, take part.

Example
    out: {kind: smem, stages: 2, dtype: f32, shape: [64, 32]}
    - {stmatrix: out, from: acc, at: [0, j * 32]}

Use instead
    out: {kind: smem, stages: 2, dtype: bf16, shape: [64, 32]}
    - {stmatrix: out, from: acc, at: [0, j * 32]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.matrix.parts import GRAIN, WORDS, MatrixCopy, matrix_copies
from tsc.rules.matrix.products import once, size

RULE = Rule(
    "TSC226", "matrix-copy-does-not-fit", Severity.ERROR, "a buffer cannot take a fragment block by block"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy between a fragment and a buffer that do not fit."""
    yield from once(it for copy in matrix_copies(program) for it in _judge(copy))


def _judge(copy: MatrixCopy) -> Iterator[Finding]:
    verb, name, fragment = copy.step.verb, copy.named.text, copy.fragment
    buffer, (here, there) = copy.buffer, copy.declared
    if buffer.bits != 16:
        message = f"`{verb}` moves 16-bit elements, and `{name}` is {buffer.dtype}"
        plain = "store" if verb == "stmatrix" else "load"
        mend = f"make `{name}` bf16 or f16, or write `{plain}`"
        yield Finding(RULE.name, message, copy.place, (here,), help=mend)
    elif fragment.dtype != buffer.dtype and (verb, fragment.dtype) != ("stmatrix", "f32"):
        message = f"`{verb}` makes no {buffer.dtype} of {fragment.dtype}"
        if verb == "ldmatrix":
            message = f"`{verb}` moves bits as they are, and `{fragment.name}` is no {buffer.dtype}"
        mend = f"`convert` between the two, or make `{name}` {fragment.dtype}"
        yield Finding(RULE.name, message, copy.place, (here, there), help=mend)
    elif len(buffer.shape) != 2:
        message = f"`{verb}` fills rows and columns, and `{name}` is {size(buffer.shape)}"
        yield Finding(RULE.name, message, copy.place, (here,), help=f"give `{name}` two extents")
    else:
        for axis, (own, extent) in enumerate(zip(copy.extents, copy.shape, strict=True)):
            part, grain = min(own, extent), GRAIN[axis]
            if part % grain or not part:
                what = f"`{name if own <= extent else fragment.name}`"
                yield Finding(
                    RULE.name,
                    f"`{verb}` moves {WORDS[axis]}s by {grain}, and {what} has {part:,}",
                    copy.place,
                    (here, there),
                    help=_turned(copy) + f"make it {max(1, -(-part // grain)) * grain:,} {WORDS[axis]}s",
                )


def _turned(copy: MatrixCopy) -> str:
    """Return the edit that reads the buffer the other way round, where it fits so."""
    parts = [min(own, extent) for own, extent in zip(copy.extents[::-1], copy.shape, strict=True)]
    if any(part % grain or not part for part, grain in zip(parts, GRAIN, strict=True)):
        return ""
    text = copy.named.text
    return f"write `{text.removesuffix('.T') if copy.named.transposed else f'{text}.T'}`, or "
