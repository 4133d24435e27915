"""Takes a stage on the word of a ring that was not waited for.

What it does
    Checks, on every path, that `{wait: R, by: S}` comes after a `wait` for `S`, that both are rings, and
    that some task which commits `S` waits for `R`.

Why is this bad
    `by` leaves the barrier of `R` unseen, because `S` is only full once `R` is. Without a wait for `S`
    nothing says so.

Example
    - {wait: data, by: ready}
    - wait: ready

Use instead
    - wait: ready
    - {wait: data, by: ready}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step

RULE = Rule("TSC145", "by-without-wait", Severity.ERROR, "`by` names a ring that was not waited for")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `by` that no earlier wait stands behind."""
    for task in program.tasks:
        for step in task.steps():
            by = getattr(step.model, "by", None) if step.verb == "wait" else None
            memory, reference = program.memories.get(by or ""), operand_of(step)
            if by is None or reference is None or by not in program.spec.resources:
                continue
            place = Place((*step.route, "by"))
            if memory is None or not memory.ring or by == reference.name:
                why = "the ring itself" if by == reference.name else "no ring"
                yield Finding(
                    RULE.name,
                    f"`by` names another ring that is waited for first, and `{by}` is {why}",
                    place,
                    help="name the ring that is committed after it was waited for, or take `by` away",
                )
            elif not _backed(program, by, reference.name):
                yield Finding(
                    RULE.name,
                    f"no task that commits `{by}` waits for `{reference.name}`",
                    place,
                    help="take `by` away, so that the step looks at the barrier itself",
                )
            elif False in _waited(program, task, step, by):
                yield Finding(
                    RULE.name,
                    f"not every path to this `wait` has waited for `{by}`",
                    place,
                    help=f"put `wait: {by}` before it",
                )


def _backed(program: Program, by: str, ring: str) -> bool:
    commit = {use.task for use in program.uses if use.ring == by and use.commits}
    return any(use.ring == ring and use.waits and use.task in commit for use in program.uses)


def _waited(program: Program, task: Task, at: Step, by: str) -> set[bool]:
    seen: set[bool] = set()

    def transfer(step: Step, waited: bool) -> bool:
        if step.index == at.index:
            seen.add(waited)
        reference = operand_of(step)
        return waited or (step.verb == "wait" and reference is not None and reference.name == by)

    walker = Walker(program, task, transfer, lambda step: step.verb == "wait")
    walker.run(False)
    return seen if walker.complete else set()
