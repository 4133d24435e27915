"""Takes a turn and keeps it, or passes one that it does not have.

What it does
    Follows every path through the schedule and checks that `take` and `pass` of a turn alternate, and that
    the task ends without the turn.

Why is this bad
    The others wait for a turn that is never passed. One that is passed without having been taken comes to
    two tasks at once.

Example
    - take: order
    - do: scale

Use instead
    - take: order
    - do: scale
    - pass: order
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.structure.judged import judged

RULE = Rule("TSC149", "unpaired-turn", Severity.ERROR, "a turn is taken and kept, or passed and not taken")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step, and each end of a task, that some path reaches on the wrong side."""
    for task in judged(program):
        for (name, copy), order in program.orders.items():
            if order.kind == "turn" and task.label in order.participants:
                yield from _walk(program, task, name, copy)


def _walk(program: Program, task: Task, name: str, copy: int) -> Iterator[Finding]:
    mine: dict[int, Step] = {}
    for step in task.steps():
        reference = operand_of(step)
        if step.verb in ("take", "pass") and reference is not None and reference.name == name:
            meaning = program.meaning(reference, task, step.env, step.route)
            if meaning is not None and meaning.copy == copy:
                mine[step.index] = step
    wrong: set[int] = set()

    def transfer(step: Step, has: bool) -> bool:
        if has == (step.verb == "take"):
            wrong.add(step.index)
        return step.verb == "take"

    walker = Walker(program, task, transfer, lambda step: step.index in mine)
    ends = walker.run(False)
    for index in sorted(wrong) if walker.complete else ():
        step = mine[index]
        has, other = ("has it already", "pass") if step.verb == "take" else ("does not have it", "take")
        yield Finding(
            RULE.name,
            f"`{task.name}` does `{step.verb}: {name}` where, on some path, it {has}",
            Place((*step.route, step.verb), "key"),
            help=f"put `{other}: {name}` before it, under the same conditions",
        )
    if walker.complete and True in ends and not wrong:
        last = next(step for step in reversed(mine.values()) if step.verb == "take")
        yield Finding(
            RULE.name,
            f"`{task.name}` ends, on some path, with `{name}` taken and not passed",
            Place((*last.route, "take"), "key"),
            help=f"put `pass: {name}` after it, under the same conditions",
        )
