"""Looks at the next stage right before the step that blocks on it.

What it does
    Reports a `try_wait` that stands directly before its `wait`, a `try_acquire` directly before its
    `acquire`.

Why is this bad
    The blocking step begins with the same look; nothing runs in between that could hide it.

Example
    - try_wait: ring
    - wait: ring

Use instead
    - wait: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Step
from tsc.rules.brackets.holds import ring_of, text

RULE = Rule("TSC308", "superfluous-try", Severity.WARNING, "a try stands directly before its blocking step")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each try that is directly followed by its blocking step."""
    for task in program.tasks:
        steps = list(task.steps())
        for at, first in enumerate(steps):
            rings = set(ring_of(program, task, first))
            verb = first.verb.removeprefix("try_")
            taken = {ring for step in _directly(steps[at:], verb) for ring in ring_of(program, task, step)}
            if verb != first.verb and rings and rings <= taken:
                yield Finding(
                    RULE.name,
                    f"`{text(first)}` stands directly before its `{verb}`, which looks itself",
                    Place(first.route, label="changes nothing"),
                    help="take it away, or put work between the two",
                )


def _directly(steps: list[Step], verb: str) -> Iterator[Step]:
    """Yield the steps of a verb that follow the first one in its block with nothing between."""
    for step in steps[1:]:
        if step.verb != verb or step.route[:-1] != steps[0].route[:-1]:
            return
        yield step
