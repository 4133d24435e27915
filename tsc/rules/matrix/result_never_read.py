"""Makes a result in registers that nothing reads.

What it does
    Follows every path from each operation that fills registers or adds a product to them, and reports one
    whose result is overwritten, or left at the end of the task, before a step reads it.

Why is this bad
    The work is done and thrown away: as a rule the write behind it was meant for the place before it, or
    the step that reads is missing.

Example
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: false}
    - wgmma_wait: 0
    - zero: acc
    - {store: d, from: acc}

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: false}
    - wgmma_wait: 0
    - {store: d, from: acc}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.matrix.results import Kept, kept
from tsc.rules.structure.judged import judged
from tsc.source.route import Route

RULE = Rule("TSC233", "result-never-read", Severity.WARNING, "a result in registers is thrown away")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step whose result is read on no path, whatever copy of the step it is."""
    used, lost = set[Route](), dict[Route, tuple[Step, Kept, frozenset[int]]]()
    for task in judged(program):
        for one in kept(program, task):
            read, over = _walk(program, one)
            for step in (it for it in task.steps() if it.index in one.makers):
                if read is None or step.index in read:
                    used.add(step.route)
                else:
                    lost[step.route] = step, one, frozenset(over.get(step.index, ()))
    for route, (step, one, behind) in lost.items():
        if route not in used:
            yield _finding(step, one, behind)


def _finding(step: Step, one: Kept, behind: frozenset[int]) -> Finding:
    by = [it for it in one.task.steps() if it.index in behind and it.route != step.route]
    until = f" before `{by[0].verb}` overwrites it" if by else ""
    related = tuple(Place((*it.route, it.verb), label="overwritten here") for it in by[:1])
    message = f"nothing reads what `{step.verb}` puts into `{one.name}`{until}"
    help = f"read `{one.name}` in between, or take one of the two steps away" if by else ""
    help = help or f"store `{one.name}`, or take the step away"
    return Finding(RULE.name, message, Place((*step.route, step.verb)), related, help)


def _walk(program: Program, one: Kept) -> tuple[set[int] | None, dict[int, set[int]]]:
    """Return the steps whose result is read, nothing where paths are too many, and what overwrites others."""
    read, over = set[int](), dict[int, set[int]]()

    def transfer(step: Step, value: frozenset[int]) -> frozenset[int]:
        if step.index in one.reads:
            read.update(value)
        if step.index in one.overwrites:
            for index in value:
                over.setdefault(index, set()).add(step.index)
            value = frozenset()
        return value | {step.index} if step.index in one.makers else value

    walker = Walker(program, one.task, transfer, lambda step: step.index in one.steps)
    walker.run(frozenset())
    return (read if walker.complete else None), over
