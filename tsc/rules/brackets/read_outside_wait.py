"""Reads a stage of a ring that has not been waited for, on some path.

What it does
    Checks that everything that reads a stage stands between the `wait` and the `release` of that stage,
    on every path through the schedule. In a store ring the store engine reads the stage that was
    committed last.

Why is this bad
    Before the `wait` the stage is not filled; after the `release` a producer may already overwrite it.

Example
    - wait: ring
    - release: ring
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
from tsc.rules.brackets.holds import holds, named

RULE = Rule("TSC302", "read-outside-wait", Severity.ERROR, "a stage is read without having been waited for")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that reads a stage that some path does not hold."""
    for entry in holds(program):
        for index in entry.stray_reads():
            step, ring, bad = entry.steps[index], entry.memory.name, entry.unheld(index, False)
            every = len(bad) == len(entry.before[index])
            paths = "no path" if every else "not every path"
            wanted, mend = (
                "holds one that it waited for",
                f"put it between `wait: {ring}` and `release: {ring}`",
            )
            if entry.store_ring:
                wanted, mend = "has committed one", f"put `commit: {ring}` before it"
            elif not entry.verbs("release"):
                mend = f"put `wait: {ring}` before it and `release: {ring}` after it"
            elif not entry.verbs("wait"):
                mend = f"put `wait: {ring}` before it"
            elif not every:
                mend = f"put `wait: {ring}` before it, on every path"
            yield Finding(
                RULE.name,
                f"`{named(step)}` reads a stage of `{ring}` here, and {paths} to it {wanted}",
                Place(step.route, label="read outside its bracket"),
                entry.places("commit", "committed here")
                if entry.store_ring
                else entry.places("wait", "waited for here"),
                help=mend,
            )
