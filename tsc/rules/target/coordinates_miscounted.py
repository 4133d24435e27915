"""Gives an operation more or fewer coordinates than its tensor has dimensions.

What it does
    Counts the entries of `at`: one for each dimension of the tensor, or of the larger of fragment and
    buffer where there is no tensor.

Why is this bad
    It is not said which element the copy begins at.

Example
    params: {x: {dtype: bf16, shape: [m, n]}}
    - {tma_load: x, at: [tile.m * 64], to: ring}

Use instead
    - {tma_load: x, at: [tile.m * 64, 0], to: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Step

RULE = Rule("TSC520", "coordinates-miscounted", Severity.ERROR, "`at` has the wrong number of coordinates")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `at` of the wrong length."""
    for task in program.tasks:
        for step in task.steps():
            at, box = getattr(step.model, "at", None), getattr(step.model, "box", ())
            if at is None and not box:
                continue
            ranks = {}
            for touch in program.touches(step, task):
                rank = _rank(program, touch.reference.name, touch.reference.buffer)
                if rank is not None:
                    ranks[touch.reference.name] = rank
            tensor = next((name for name in ranks if name in program.tensors), None)
            name = tensor if tensor is not None else max(ranks, key=lambda n: ranks[n], default=None)
            if name is not None and at is not None and len(at) != ranks[name]:
                yield _finding(step, name, len(at), ranks[name])
            if name is not None and len(box) > ranks[name]:
                message = f"`box` has {len(box)} extents, and `{name}` has {_dimensions(ranks[name])}"
                help = "write an extent for each of the last dimensions, or fewer"
                yield Finding(RULE.name, message, Place((*step.route, "box")), help=help)


def _rank(program: Program, name: str, buffer: str | None) -> int | None:
    if name in program.tensors:
        return program.tensors[name].rank
    if name in program.memories:
        found = program.memories[name].buffer(buffer)
        return len(found.shape) if found is not None else None
    registers = program.registers.get(name)
    return len(registers.shape) if registers is not None and registers.shape is not None else None


def _finding(step: Step, name: str, given: int, rank: int) -> Finding:
    given_ = "1 coordinate" if given == 1 else f"{given} coordinates"
    return Finding(
        RULE.name,
        f"`at` has {given_}, and `{name}` has {_dimensions(rank)}",
        Place((*step.route, "at")),
        help=f"write {rank}: that of the first element along each dimension" if rank else "take `at` away",
    )


def _dimensions(rank: int) -> str:
    return "1 dimension" if rank == 1 else f"{rank} dimensions"
