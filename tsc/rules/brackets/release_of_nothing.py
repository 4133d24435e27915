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
from tsc.rules.brackets.holds import Holds, holds, kept, text
from tsc.rules.brackets.pending import products, stores

RULE = Rule("TSC306", "release-of-nothing", Severity.ERROR, "a release never has a stage to give back")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that finds no more held than it keeps, on every path."""
    for entry in holds(program):
        if entry.stray_reads():
            continue  # the missing `wait` has been reported where the stage is read
        early = _early(program, entry)
        for index in entry.idle(program, "release"):
            if any(other < index for other in early):
                continue  # what it was to give back has been reported where it is given back too early
            step, ring = entry.steps[index], entry.memory.name
            keep = kept(program, step)
            waits = entry.places("wait", "waited for here")
            yield Finding(
                RULE.name,
                f"`{text(step)}` never has a stage to give back: " + _why(entry, index, keep),
                Place(step.route, label="keeps all there is" if keep else "nothing is held here"),
                (*waits, *_earlier(entry, index)),
                help="take the step away" if _earlier(entry, index) else _mend(ring, keep, bool(waits)),
            )


def _early(program: Program, entry: Holds) -> list[int]:
    """Return the releases that give back what an engine may still read."""
    pending = (facts for facts in (*products(program), *stores(program)) if facts.entry is entry)
    return [index for facts in pending for index, reads in facts.early.items() if reads]


def _earlier(entry: Holds, index: int) -> tuple[Place, ...]:
    """Return the releases that gave back all that was waited for before."""
    waits = [step.index for step in entry.verbs("wait") if step.index < index]
    releases = [step for step in entry.verbs("release") if waits and waits[0] < step.index < index]
    return tuple(Place(route, label="given back here") for route in {step.route: None for step in releases})[
        :2
    ]


def _why(entry: Holds, index: int, keep: int) -> str:
    if keep:
        return f"no path to it waits for more than the {keep} it keeps"
    ring = entry.memory.name
    if _earlier(entry, index):
        return f"every stage of `{ring}` that a path to it waits for has been given back"
    return f"no path to it waits for one of `{ring}`"


def _mend(ring: str, keep: int, waited: bool) -> str:
    if not waited:
        return f"put `wait: {ring}` before it, or take the step away"
    return f"keep fewer than {keep}" if keep else f"move it after `wait: {ring}`, or take it away"
