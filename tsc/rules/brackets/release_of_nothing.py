"""Releases a ring of which no stage is held, on any path.

What it does
    Looks for a `release` that never has anything to give back. One that has something on some paths is
    right: with no more held than it keeps, it does nothing.

Why is this bad
    The step does nothing, so the stage that it was written for is given back too early or never.

Example
    - release: ring
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

RULE = Rule("TSC306", "release-of-nothing", Severity.ERROR, "a release never has a stage to give back")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that finds no more held than it keeps, on every path."""
    for entry in holds(program):
        for index, step in entry.steps.items():
            if step.verb != "release" or not entry.complete:
                continue
            keep = (
                program.values.integer(getattr(step.model, "keep", None), (*step.route, "keep"), step.env)
                or 0
            )
            most = max((state.waited for state in entry.before.get(index, ())), default=0)
            if most <= keep:
                ring = entry.memory.name
                kept = f" more than the {keep} it keeps" if keep else ""
                yield Finding(
                    RULE.name,
                    f"`release` of `{ring}` never has a stage to give back: no path waits for any{kept}",
                    Place(step.route, label="nothing is held here"),
                    help=f"put `wait: {ring}` before it, or take the step away",
                )
