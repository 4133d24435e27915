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
from tsc.rules.brackets.holds import holds, kept, text

RULE = Rule("TSC305", "commit-of-nothing", Severity.ERROR, "a commit never has a stage to hand over")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each commit that finds no more acquired than it keeps, on every path."""
    for entry in holds(program):
        if entry.stray_writes():
            continue  # the missing `acquire` has been reported where the stage is written
        for index in entry.idle(program, "commit"):
            step, ring = entry.steps[index], entry.memory.name
            keep = kept(program, step)
            acquires = entry.places("acquire", "acquired here")
            yield Finding(
                RULE.name,
                f"`{text(step)}` never has a stage to hand over: no path to it acquires "
                + (f"more than the {keep} it keeps" if keep else f"one of `{ring}`"),
                Place(step.route, label="keeps all there is" if keep else "nothing is acquired here"),
                acquires,
                help=_mend(ring, keep, bool(acquires)),
            )


def _mend(ring: str, keep: int, acquired: bool) -> str:
    if not acquired:
        return f"put `acquire: {ring}` before it, or take the step away"
    return f"keep fewer than {keep}" if keep else f"move it after `acquire: {ring}`, or take it away"
