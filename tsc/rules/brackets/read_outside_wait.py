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
from tsc.rules.brackets.holds import Held, holds

RULE = Rule("TSC302", "read-outside-wait", Severity.ERROR, "a stage is read without having been waited for")


def _holds(state: Held, store_ring: bool) -> bool:
    return bool(state.waited or state.observed or state.acquired or (store_ring and state.committed))


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that reads a stage that some path does not hold."""
    for entry in holds(program):
        if not entry.complete:
            continue
        ring = entry.memory.name
        for index, touches in entry.touches.items():
            states = entry.before.get(index, set())
            bad = [state for state in states if not _holds(state, entry.store_ring)]
            if not bad or not any(touch.mode == "read" for touch in touches):
                continue
            step = entry.steps[index]
            paths = "no path" if len(bad) == len(states) else "not every path"
            wanted = "has committed one" if entry.store_ring else "holds one it waited for"
            missing = f"`commit: {ring}`" if entry.store_ring else f"`wait: {ring}`"
            yield Finding(
                RULE.name,
                f"`{step.verb}` reads a stage of `{ring}` here, and {paths} to it {wanted}",
                Place(step.route, label="read outside its bracket"),
                help=f"put {missing} before it, and its release after it"
                if not entry.store_ring
                else f"put {missing} before it",
            )
