"""States `reads` or `writes` of a task that its schedule does not have.

What it does
    Compares a task's `reads` and `writes` with the resources of kind smem, tmem and signal that its
    schedule reads and writes. If they are written they are complete; what is updated stands in both.

Why is this bad
    One of the two is not what was meant.

Example
    load: {warps: 1, writes: [], schedule: [acquire: ring, {tma_load: x, to: ring}, commit: ring]}

Use instead
    load: {warps: 1, writes: [ring], schedule: [acquire: ring, {tma_load: x, to: ring}, commit: ring]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.names.lost import lost
from tsc.rules.roles.sides import unclear
from tsc.spec.wording import series

RULE = Rule("TSC173", "task-lists-mismatch", Severity.ERROR, "a task's lists are not what its schedule does")


def task_lists(program: Program, name: str) -> dict[str, list[str]]:
    """Return what the instances of a task read and write: payload, and signals by their steps."""
    found: dict[str, set[str]] = {"reads": set(), "writes": set()}
    for task in program.tasks:
        if task.name != name:
            continue
        for use in program.uses:
            if use.task == task.label and program.memories[use.ring].kind == "signal":
                found["writes" if use.produces else "reads"].add(use.ring)
        for step in task.steps():
            for touch in program.touches(step, task):
                if touch.reference.name in program.memories:
                    if touch.reads:
                        found["reads"].add(touch.reference.name)
                    if touch.writes:
                        found["writes"].add(touch.reference.name)
    order = list(program.memories)
    return {side: sorted(names, key=order.index) for side, names in found.items()}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name too many or too few."""
    for name, model in program.spec.tasks.items():
        if name in lost(program):
            continue
        for side, derived in task_lists(program, name).items():
            stated = getattr(model, side)
            names = [reference.name for reference in stated or ()]
            for i, listed in enumerate(names):
                resource = program.spec.resources.get(listed)
                if resource is not None and listed not in {*derived, *unclear(program)}:
                    kind = f", and `{listed}` is of kind `{resource.kind}`"
                    yield Finding(
                        RULE.name,
                        f"`{name}` never {side} `{listed}`"
                        if listed in program.memories
                        else f"`{side}` lists what is of kind `smem`, `tmem` and `signal`{kind}",
                        Place(("tasks", name, side, i)),
                        help="take it out of the list",
                    )
            missing = [one for one in derived if one not in {*names, *unclear(program)}]
            if stated is not None and missing:
                yield Finding(
                    RULE.name,
                    f"`{name}` {side} {series(missing)}, and its list does not say so",
                    Place(("tasks", name, side), "key"),
                    help=f"write `{side}: [{', '.join(derived)}]`, or leave the list out",
                )
