"""Uses instructions of one architecture alone without saying so in `target`.

What it does
    Checks that `target` ends in `a` where the kernel uses setmaxnreg (`registers`), wgmma, anything of tensor
    memory, or `policy: clc` in clusters of several CTAs.

Why is this bad
    These instructions exist in the architecture-specific target only; the assembler refuses them
    elsewhere.

Example
    target: sm_90
    math: {warps: 4, registers: 240, schedule: [task_sync]}

Use instead
    target: sm_90a
    math: {warps: 4, registers: 240, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.target import Target, place_of

RULE = Rule("TSC511", "missing-target-suffix", Severity.ERROR, "`target` needs the suffix `a`")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding a target, with the first place that needs the suffix."""
    name, target = program.arch, program.target
    needs = next(_needs(program, target), None) if target is not None and not target.suffix else None
    if needs is not None:
        what, place = needs
        yield Finding(
            RULE.name,
            f"{what} exists on `{name}a` only, and `target` is `{name}`",
            Place(place_of(program.spec, name)),
            (place,),
            help=f"write `target: {name}a`",
        )


def _needs(program: Program, target: Target) -> Iterator[tuple[str, Place]]:
    """Yield what the target has with its suffix alone; what it never has is another rule's."""
    for task in program.tasks:
        if task.registers is not None:
            yield "setmaxnreg, for `registers`,", Place((*task.route, "registers"), "key", label="needs it")
        for step in task.steps():
            wanted = target.hopper if step.verb.startswith("wgmma") else target.blackwell
            if step.verb.startswith(("wgmma", "tcgen05")) and wanted:
                yield f"`{step.verb}`", Place((*step.route, step.verb), "key", label="needs it")
    queue, ctas = program.queue, prod(size for _, size in program.cluster)
    if queue is not None and queue.policy == "clc" and ctas > 1 and target.blackwell:
        yield f"`policy: clc` for {ctas} CTAs at once", Place((*queue.route, "policy"), label="needs it")
    for memory in program.memories.values():
        if memory.kind == "tmem" and target.blackwell:
            yield "tensor memory", Place(memory.route, "key", label="needs it")
