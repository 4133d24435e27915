"""Reads registers that some path has not written.

What it does
    Follows every path through the schedule and checks that registers have been written where an operation,
    a work or an expression reads them. `wgmma` reads its accumulator where `accumulate` always holds.

Why is this bad
    Registers begin with whatever the task before left in them.

Example
    - domain_loop: k_tiles
      body:
        - {wgmma: acc, a: ab.a, b: ab.b}

Use instead
    - domain_loop: k_tiles
      body:
        - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import provably
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.routing.mentions import with_looks

RULE = Rule(
    "TSC157", "register-read-before-write", Severity.ERROR, "registers are read before they are written"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read of registers that some path to it has not written."""
    for task in program.tasks:
        for name in program.registers:
            yield from _walk(program, task, name)


def _walk(program: Program, task: Task, name: str) -> Iterator[Finding]:
    looked = with_looks(program, task, name.__eq__)
    found = {s.index: [t for t in program.touches(s, task) if t.reference.name == name] for s in task.steps()}
    reads: dict[int, tuple[Place, str]] = {}
    for index, mentioned in looked.mentioned.items():
        reads[index] = (mentioned[0].place, "an expression")
    for step in task.steps():
        for touch in found[step.index]:
            if _needs(program, step, touch):
                who = f"`{step.verb}`" if step.verb != "do" else f"`{getattr(step.model, 'do', '')}`"
                reads[step.index] = (
                    Place((*step.route, "do") if step.verb == "do" else touch.route, "value"),
                    who,
                )
    before: dict[int, set[bool]] = {}

    def transfer(step: Step, written: bool) -> bool:
        before.setdefault(step.index, set()).add(written)
        return written or any(touch.writes for touch in found.get(step.index, ()))

    if not reads:
        return
    walker = Walker(
        program, looked.task, transfer, lambda step: step.index in reads or bool(found.get(step.index))
    )
    walker.run(False)
    for index, (place, who) in reads.items() if walker.complete else ():
        states = before.get(index, set())
        if False in states:
            paths = "not every path" if True in states else "no path"
            yield Finding(
                RULE.name,
                f"{who} reads `{name}` here, and {paths} to it has written `{name}`",
                place,
                help=f"put `zero: {name}` before it, or another step that writes it on every path",
            )


def _needs(program: Program, step: Step, touch: Touch) -> bool:
    """Whether the old value matters: always but for an accumulator that may be cleared."""
    accumulate = getattr(step.model, "accumulate", None)
    if not touch.reads or accumulate is None or touch.mode == "read":
        return touch.reads
    return provably(program.flat(accumulate, step.env), program.ranges) is True
