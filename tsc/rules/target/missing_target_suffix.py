"""Uses instructions of one architecture alone without saying so in `target`.

What it does
    Checks that `target` ends in `a` where the kernel uses setmaxnreg (`registers`), wgmma, or anything of
    tensor memory.

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

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.target import find_target
from tsc.source.route import Route

RULE = Rule("TSC511", "missing-target-suffix", Severity.ERROR, "`target` needs the suffix `a`")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding a target, with the first place that needs the suffix."""
    needs = next(_needs(program), None)
    several = isinstance(program.spec.target, tuple)
    for i, name in enumerate(program.targets):
        target = find_target(name)
        if target is not None and not target.suffix and needs is not None:
            what, route = needs
            yield Finding(
                RULE.name,
                f"{what} exists on `{name}a` only, and `target` is `{name}`",
                Place(("target", i) if several else ("target",)),
                (Place(route, label="needs it"),),
                help=f"write `target: {name}a`",
            )


def _needs(program: Program) -> Iterator[tuple[str, Route]]:
    for task in program.tasks:
        if task.registers is not None:
            yield "setmaxnreg, for `registers`,", (*task.route, "registers")
        for step in task.steps():
            if step.verb.startswith(("wgmma", "tcgen05")):
                yield f"`{step.verb}`", step.route
    for memory in program.memories.values():
        if memory.kind == "tmem":
            yield "tensor memory", memory.route
