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
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.target import place_of

RULE = Rule("TSC512", "not-on-this-target", Severity.ERROR, "the target architecture does not have a feature")


_WAITS = "take it away, for `release` and `commit` wait for `tcgen05_mma` themselves"


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding a target for Hopper's features and one for Blackwell's, at the first use."""
    name, target = program.arch, program.target
    if target is None:
        return
    for has, family, used in (
        (target.hopper, "sm_90a", _hopper(program)),
        (target.blackwell, "sm_100a", _blackwell(program)),
    ):
        (what, place, instead), *others = [*used] or [("", Place(()), "")]
        if what and not has:
            also = tuple(replace(other, label="nor does this") for _, other, _ in others[:3])
            yield Finding(
                RULE.name,
                f"{what} does not exist on `{name}`",
                place,
                (Place(place_of(program.spec, name), label="the target"), *also),
                help=f"{instead}, or {'' if instead.startswith('write') else 'write '}`target: {family}`",
            )


def _hopper(program: Program) -> Iterator[tuple[str, Place, str]]:
    return _verbs(program, "wgmma", "write `tcgen05_mma`")


def _blackwell(program: Program) -> Iterator[tuple[str, Place, str]]:
    if program.spec.launch.cta_group == 2:
        yield "a pair of CTAs", Place(("launch", "cta_group")), "write `cta_group: 1`"
    for name, memory in program.memories.items():
        if memory.kind == "tmem":
            yield (
                f"tensor memory (`{name}`)",
                Place((*memory.route, "kind")),
                "write `kind: registers` and `wgmma`",
            )
    if program.queue is not None and program.queue.policy == "clc":
        place = Place((*program.queue.route, "policy"))
        yield "cluster launch control", place, "write `policy: atomic`"
    yield from _verbs(program, "tcgen05", "write `wgmma`")


def _verbs(program: Program, prefix: str, instead: str) -> Iterator[tuple[str, Place, str]]:
    found = {}
    for task in program.tasks:
        for step in task.steps():
            if step.verb.startswith(prefix):
                found[step.route] = step.verb
    for route, verb in found.items():
        yield f"`{verb}`", Place((*route, verb), "key"), _WAITS if verb == "wgmma_wait" else instead
