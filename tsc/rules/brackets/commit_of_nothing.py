"""Commits a ring of which no stage is acquired, on any path.

What it does
    Looks for a `commit` that never has anything to hand over. One that has something on some paths is
    right: with no more acquired than it keeps, it does nothing.

Why is this bad
    The step does nothing, so the stage that it was written for is handed over too early or never.

Example
    - commit: ring
    - acquire: ring

Use instead
    - acquire: ring
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import holds

RULE = Rule("TSC305", "commit-of-nothing", Severity.ERROR, "a commit never has a stage to hand over")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each commit that finds no more acquired than it keeps, on every path."""
    for entry in holds(program):
        for index, step in entry.steps.items():
            if step.verb != "commit" or not entry.complete:
                continue
            keep = (
                program.values.integer(getattr(step.model, "keep", None), (*step.route, "keep"), step.env)
                or 0
            )
            most = max((state.acquired for state in entry.before.get(index, ())), default=0)
            if most <= keep:
                ring = entry.memory.name
                kept = f" more than the {keep} it keeps" if keep else ""
                yield Finding(
                    RULE.name,
                    f"`commit: {ring}` never has a stage to hand over: no path to it acquires any{kept}",
                    Place(step.route, label="nothing is acquired here"),
                    help=f"put `acquire: {ring}` before it, or take the step away",
                )
