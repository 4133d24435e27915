"""Hands on a ring that others take on its word, before it has waited for what it speaks of.

What it does
    Looks at the tasks that commit `S` and wait for `R` where some task does `{wait: R, by: S}`: on every path
    each commit of `S` has a wait for `R` before it, one for each stage that is handed over.

Why is this bad
    Who takes `R` on the word of `S` does not look at its barrier, and reads what is still on its way.

Example
    - acquire: ready
    - commit: ready
    - {wait: data, observe: true}

Use instead
    - acquire: ready
    - {wait: data, observe: true}
    - commit: ready
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.brackets.holds import kept, text

RULE = Rule("TSC318", "signal-before-wait", Severity.ERROR, "a task speaks for a ring before it has waited")

MOST = 16  # a task that is further ahead is not judged


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each commit that speaks for a stage which its task has not waited for."""
    for ring, by, place in dict.fromkeys(_spoken_for(program)):
        users = {use.task for use in program.uses if use.ring == by and use.commits}
        users &= {use.task for use in program.uses if use.ring == ring and use.waits}
        early = [_early(program, program.task(label), ring, by) for label in sorted(users)]
        if not early or None in early:
            continue  # nobody waits, which has a rule, or somebody does in time
        for step in filter(None, early[:1]):
            yield Finding(
                RULE.name,
                f"`{text(step)}` says that `{ring}` has been waited for, and not every path to it has",
                Place(step.route, label="handed over too early"),
                (place,),
                help=f"put `wait: {ring}` before it",
            )


def _spoken_for(program: Program) -> Iterator[tuple[str, str, Place]]:
    for task in program.tasks:
        for step in task.steps():
            by, reference = str(getattr(step.model, "by", "")), operand_of(step)
            if step.verb == "wait" and by in program.memories and reference is not None:
                yield reference.name, by, Place(step.route, label="taken on its word")


def _early(program: Program, task: Task, ring: str, by: str) -> Step | None:
    """Return a commit of `by` that some path reaches with fewer waits for `ring` than stages handed over."""
    found: list[Step] = []

    def transfer(step: Step, state: tuple[int, int]) -> tuple[int, int]:
        acquired, ahead = state
        reference = operand_of(step)
        named = reference.name if reference is not None else ""
        if step.verb == "wait" and named == ring:
            return acquired, min(ahead + 1, MOST)
        if step.verb == "acquire" and named == by:
            return min(acquired + 1, MOST), ahead
        if step.verb != "commit" or named != by:
            return state
        left = min(acquired, kept(program, step))
        ahead = MOST if ahead == MOST else ahead - (acquired - left)
        if ahead < 0:
            found.append(step)
        return left, max(ahead, 0)

    walker = Walker(program, task, transfer, lambda step: step.verb in ("wait", "acquire", "commit"))
    walker.run((0, 0))
    return found[0] if walker.complete and found else None
