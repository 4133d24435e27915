"""Uses what the target architecture does not have.

What it does
    Checks operations, resources and policies against the architecture: `wgmma` is Hopper's, `tcgen05`,
    tensor memory, `clc` and pairs are Blackwell's.

Why is this bad
    The assembler refuses the instruction.

Example
    target: sm_100a
    - {wgmma: acc, a: ab.a, b: ab.b}

Use instead
    target: sm_90a
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.target import Target, find_target
from tsc.source.route import Route

RULE = Rule("TSC512", "not-on-this-target", Severity.ERROR, "the target architecture does not have a feature")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each use of a feature that some target lacks."""
    for name in program.targets:
        target = find_target(name)
        for what, route, has, instead in _features(program, target) if target is not None else ():
            if not has:
                yield Finding(
                    RULE.name,
                    f"{what} does not exist on `{name}`",
                    Place(route),
                    (Place(("target",), label="the target"),),
                    help=instead,
                )


def _features(program: Program, target: Target) -> Iterator[tuple[str, Route, bool, str]]:
    for task in program.tasks:
        for step in task.steps():
            if step.verb.startswith("wgmma"):
                yield f"`{step.verb}`", step.route, target.hopper, "write `tcgen05_mma`, or `target: sm_90a`"
            elif step.verb.startswith("tcgen05"):
                yield f"`{step.verb}`", step.route, target.blackwell, "write `wgmma`, or `target: sm_100a`"
    for name, memory in program.memories.items():
        if memory.kind == "tmem":
            yield (
                f"tensor memory (`{name}`)",
                (*memory.route, "kind"),
                target.blackwell,
                "write `target: sm_100a`",
            )
    if program.queue is not None and program.queue.policy == "clc":
        yield (
            "cluster launch control",
            (*program.queue.route, "policy"),
            target.blackwell,
            "write `policy: atomic`",
        )
    if program.spec.launch.cta_group == 2:
        yield "a pair of CTAs", ("launch", "cta_group"), target.blackwell, "take `cta_group` away"
