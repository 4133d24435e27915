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
from tsc.rules.brackets.holds import Holds, holds, named

RULE = Rule("TSC302", "read-outside-wait", Severity.ERROR, "a stage is read without having been waited for")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the steps of a task that read a stage which some path does not hold."""
    for entry in holds(program):
        alike: dict[bool, list[int]] = {}
        for index in entry.stray_reads():
            alike.setdefault(len(entry.unheld(index, False)) < len(entry.before[index]), []).append(index)
        for some, (first, *others) in alike.items():
            step, ring = entry.steps[first], entry.memory.name
            wanted = "has committed one" if entry.store_ring else "holds one that it waited for"
            verb, label = ("commit", "committed here") if entry.store_ring else ("wait", "waited for here")
            yield Finding(
                RULE.name,
                f"`{named(step)}` reads a stage of `{ring}` here, "
                f"and {'not every' if some else 'no'} path to it {wanted}",
                Place(step.route, label="read outside its bracket"),
                (*entry.places(verb, label), *entry.also(others, step)),
                help=_mend(entry, ring, some),
            )


def _mend(entry: Holds, ring: str, some: bool) -> str:
    if entry.store_ring:
        return f"put `commit: {ring}` before it"
    if not entry.verbs("release"):
        return f"put `wait: {ring}` before it and `release: {ring}` after it"
    if not entry.verbs("wait"):
        return f"put `wait: {ring}` before it"
    return (
        f"put `wait: {ring}` before it, on every path"
        if some
        else f"put it between `wait: {ring}` and `release: {ring}`"
    )
