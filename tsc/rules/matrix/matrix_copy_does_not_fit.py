"""Moves a fragment by `stmatrix` or `ldmatrix` in parts that are not made of its blocks.

What it does
    Checks that the buffer has 16-bit elements and two dimensions, that it is a part of the fragment or the
    fragment one of it, of a multiple of 64 rows and of 16 columns, and that `at` is known when built where it
    chooses among registers, and lies inside.

Why is this bad
    The instructions move 8 x 8 blocks of 16-bit elements, two by two, from all warps of a warpgroup at once.

Example
    out: {kind: smem, stages: 2, dtype: f32, shape: [64, 32]}
    - {stmatrix: out, from: acc, at: [0, j * 32]}

Use instead
    out: {kind: smem, stages: 2, dtype: bf16, shape: [64, 32]}
    - {stmatrix: out, from: acc, at: [0, j * 32]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.fragments import ROWS
from tsc.program.model import Buffer, Program, RegisterSet
from tsc.program.tree import Step
from tsc.rules.matrix.products import once, size

RULE = Rule("TSC226", "matrix-copy-does-not-fit", Severity.ERROR, "a part of a fragment is not made of blocks")

GRAIN = (ROWS, 16)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy between a fragment and a buffer that does not come out even."""
    yield from once(it for task in program.tasks for step in task.steps() for it in _copy(program, task, step))


def _copy(program: Program, task: object, step: Step) -> Iterator[Finding]:
    if step.verb not in ("stmatrix", "ldmatrix"):
        return
    ours, other = (getattr(step.model, field) for field in ("from_", step.verb))
    names, memory = (ours, other) if step.verb == "stmatrix" else (other, ours)
    fragment = program.registers.get(names.name)
    meaning = program.meaning(memory, task, step.env, step.route)  # type: ignore[arg-type]
    buffer = meaning.buffer if meaning is not None else None
    if fragment is None or fragment.shape is None or len(fragment.shape) != 2 or buffer is None:
        return
    here = Place((*step.route, step.verb if step.verb == "stmatrix" else "from"))
    there = Place(buffer.route, "key", label=f"{size(buffer.shape)} {buffer.dtype}")
    if buffer.bits != 16:
        message = f"`{step.verb}` moves 16-bit elements, and `{memory}` is {buffer.dtype}"
        plain = "store" if step.verb == "stmatrix" else "load"
        yield Finding(RULE.name, message, here, (there,), help=f"make it bf16 or f16, or use `{plain}`")
    elif len(buffer.shape) != 2 or not any(_inside(*pair) for pair in _pairs(fragment, buffer)):
        own = Place(fragment.route, "key", label=f"{size(fragment.shape)} {fragment.dtype}")
        message = f"`{memory}` is {size(buffer.shape)} and `{names}` {size(fragment.shape)}: none is a part of"
        yield Finding(RULE.name, f"{message} the other", here, (there, own), help="give one the other's extents")
    else:
        yield from _part(program, step, fragment.shape, buffer.shape, str(memory), str(names), here)


def _pairs(fragment: RegisterSet, buffer: Buffer) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    return (fragment.shape or (), buffer.shape), (buffer.shape, fragment.shape or ())


def _inside(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return all(p <= w for p, w in zip(part, whole, strict=True))
