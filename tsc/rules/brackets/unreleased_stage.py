"""Waits for a stage that some path never releases.

What it does
    Checks that a task holds no stage that it waited for when it ends, on every path. A wait with
    `observe` owes nothing.

Why is this bad
    The producer waits for the stage for ever, once it has come round the ring.

Example
    - wait: ring
    - do: add

Use instead
    - wait: ring
    - do: add
    - release: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import holds

RULE = Rule("TSC304", "unreleased-stage", Severity.ERROR, "a task ends with a stage that it never released")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring of which a task holds a stage at its end."""
    for entry in holds(program):
        worst = max((state.waited for state in entry.ends), default=0)
        if not entry.complete or not worst:
            continue
        ring = entry.memory.group or entry.memory.name
        waits = [s for s in entry.steps.values() if s.verb == "wait"]
        releases = [s for s in entry.steps.values() if s.verb == "release"]
        stages = "a stage" if worst == 1 else f"{worst} stages or more"
        always = all(state.waited for state in entry.ends)
        yield Finding(
            RULE.name,
            f"`{entry.task.label}` ends with {stages} of `{entry.memory.name}` waited for and not released"
            + ("" if always else ", on some path"),
            Place(waits[-1].route, label="waited for here"),
            tuple(Place(step.route, label="released here") for step in releases[:3]),
            help=f"add `release: {ring}` after the last read of the stage"
            if not releases
            else f"let every path from `wait: {entry.memory.name}` reach a `release: {ring}` that keeps none",
        )
