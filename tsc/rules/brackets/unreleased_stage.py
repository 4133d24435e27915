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
from tsc.rules.brackets.holds import closing, holds, stages
from tsc.rules.brackets.stuck import waiting

RULE = Rule("TSC304", "unreleased-stage", Severity.ERROR, "a task ends with a stage that it never released")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring of which a task holds a stage at its end."""
    reported: set[tuple[str, str]] = set()
    for entry in holds(program):
        worst = max((held.waited for held in entry.ends), default=0)
        ring, (_, target) = entry.memory.name, closing(program, entry)
        if not worst or entry.idle(program, "release") or (entry.task.name, target) in reported:
            continue  # a release before its wait has been reported as one of nothing
        reported.add((entry.task.name, target))
        releases = entry.places("release", "released here")
        always = all(held.waited for held in entry.ends)
        stuck = waiting(program, ring, {entry.copy}, "acquire", ", once the ring has come round")
        yield Finding(
            RULE.name,
            f"`{entry.task.name}` ends with {stages(worst, entry)} of `{ring}` waited for and not released"
            + ("" if always else ", on some path"),
            Place(entry.verbs("wait")[-1].route, label="waited for here"),
            (*releases, *stuck),
            help=f"let every path from `wait: {ring}` reach a `release: {target}` that keeps none"
            if releases
            else f"add `release: {target}` after the last read of the stage",
        )
