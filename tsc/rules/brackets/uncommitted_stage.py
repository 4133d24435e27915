"""Acquires a stage that some path never commits.

What it does
    Checks that a task holds no acquired stage when it ends, on every path.

Why is this bad
    The readers wait for the stage for ever.

Example
    - acquire: ring
    - {tma_load: x, to: ring}

Use instead
    - acquire: ring
    - {tma_load: x, to: ring}
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import holds

RULE = Rule(
    "TSC303",
    "uncommitted-stage",
    Severity.ERROR,
    "a task ends with an acquired stage that it never committed",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring of which a task holds an acquired stage at its end."""
    for entry in holds(program):
        worst = max((state.acquired for state in entry.ends), default=0)
        if not entry.complete or not worst:
            continue
        ring = entry.memory.name
        acquires = [s for s in entry.steps.values() if s.verb == "acquire"]
        commits = [s for s in entry.steps.values() if s.verb == "commit"]
        where = acquires[-1]
        stages = "a stage" if worst == 1 else f"{worst} stages or more"
        always = all(state.acquired for state in entry.ends)
        yield Finding(
            RULE.name,
            f"`{entry.task.label}` ends with {stages} of `{ring}` acquired and not committed"
            + ("" if always else ", on some path"),
            Place(where.route, label="acquired here"),
            tuple(Place(step.route, label="committed here") for step in commits[:3]),
            help=f"add `commit: {ring}` after what fills the stage"
            if not commits
            else f"let every path from `acquire: {ring}` reach a `commit: {ring}` that keeps none",
        )
