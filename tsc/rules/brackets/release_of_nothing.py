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
from tsc.rules.brackets.holds import holds, kept, text

RULE = Rule("TSC306", "release-of-nothing", Severity.ERROR, "a release never has a stage to give back")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that finds no more held than it keeps, on every path."""
    for entry in holds(program):
        if entry.stray_reads():
            continue  # the missing `wait` has been reported where the stage is read
        for index in entry.idle(program, "release"):
            step, ring = entry.steps[index], entry.memory.name
            keep = kept(program, step)
            waits = entry.places("wait", "waited for here")
            yield Finding(
                RULE.name,
                f"`{text(step)}` never has a stage to give back: no path to it waits for "
                + (f"more than the {keep} it keeps" if keep else f"one of `{ring}`"),
                Place(step.route, label="keeps all there is" if keep else "nothing is held here"),
                waits,
                help=_mend(ring, keep, bool(waits)),
            )


def _mend(ring: str, keep: int, waited: bool) -> str:
    if not waited:
        return f"put `wait: {ring}` before it, or take the step away"
    return f"keep fewer than {keep}" if keep else f"move it after `wait: {ring}`, or take it away"
