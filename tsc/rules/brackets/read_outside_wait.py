"""Reads a stage of a ring that has not been waited for, on some path.

What it does
    Checks that everything that reads a stage stands between the `wait` and the `release` of that stage,
    on every path through the schedule. In a store ring the store engine reads the stage that was
    committed last. A task may read what its own threads wrote into a stage that it has acquired, and not
    what a load is still bringing there.

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
from tsc.program.tree import Step
from tsc.rules.brackets.ended import ended, first_copy, given_back, made_ordinary
from tsc.rules.brackets.holds import LOADERS, Holds, holds, named

RULE = Rule("TSC302", "read-outside-wait", Severity.ERROR, "a stage is read without having been waited for")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the steps of a task that read a stage which some path does not hold."""
    for entry in holds(program):
        alike: dict[tuple[bool, bool], list[int]] = {}
        for index in entry.stray_reads():
            unheld = entry.unheld(index, False)
            kind = (len(unheld) < len(entry.before[index]), any(held.acquired for held in unheld))
            alike.setdefault(kind, []).append(index)
        for (some, loading), (first, *others) in alike.items():
            step, ring = entry.steps[first], entry.memory.name
            if loading:
                yield _early(entry, step, entry.also(others, step))
                continue
            if not entry.store_ring and made_ordinary(entry, first):
                yield given_back(RULE.name, entry, step)
                continue
            wanted = "has committed one" if entry.store_ring else "holds one that it waited for"
            verb, label = ("commit", "committed here") if entry.store_ring else ("wait", "waited for here")
            back = ended(entry, step, "wait", "release", "given back here")
            copy = first_copy(entry, entry.stray_reads(), step)
            yield Finding(
                RULE.name,
                f"`{named(step)}` reads a stage of `{ring}` here{copy}, "
                f"and {'not every' if some else 'no'} path to it {wanted}",
                Place(step.route, label="read outside its bracket"),
                (*entry.places(verb, label), *back, *entry.also(others, step)),
                help=f"put `release: {ring}` behind the last copy"
                if copy and back
                else _mend(entry, ring, some),
            )


def _early(entry: Holds, step: Step, also: tuple[Place, ...]) -> Finding:
    ring = entry.memory.name
    loads = dict.fromkeys(
        entry.steps[i].route for i, found in entry.touches.items() if any(t.engine in LOADERS for t in found)
    )
    return Finding(
        RULE.name,
        f"`{named(step)}` reads a stage of `{ring}` here, and the load into it may still be under way",
        Place(step.route, label="read before the bytes are there"),
        (*(Place(route, label="the load is started here") for route in list(loads)[:2]), *also),
        help=f"read it after `wait: {ring}`, which is over when the bytes have arrived",
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
