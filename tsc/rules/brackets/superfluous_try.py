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
from itertools import pairwise

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import ring_of

RULE = Rule("TSC308", "superfluous-try", Severity.WARNING, "a try stands directly before its blocking step")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each try that is directly followed by its blocking step."""
    for task in program.tasks:
        for first, second in pairwise(task.steps()):
            same = first.route[:-1] == second.route[:-1] and first.verb == f"try_{second.verb}"
            rings = ring_of(program, task, first)
            if same and rings and rings == ring_of(program, task, second):
                ring = rings[0][0]
                yield Finding(
                    RULE.name,
                    f"`{first.verb}: {ring}` stands directly before its `{second.verb}`, which looks itself",
                    Place(first.route, label="changes nothing"),
                    help="take it away, or put work between the two",
                )
