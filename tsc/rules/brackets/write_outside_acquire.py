"""Writes a stage of a ring that is not acquired, on some path.

What it does
    Checks that everything that fills a stage (loads, stores to shared memory, works that write or update
    it) stands between the `acquire` and the `commit` of that stage, on every path through the schedule.

Why is this bad
    Before the `acquire` a reader may still use the stage; after the `commit` it may already read it.
    Either is a race.

Example
    - {tma_load: x, at: [loop * BK], to: ring}
    - acquire: ring
    - commit: ring

Use instead
    - acquire: ring
    - {tma_load: x, at: [loop * BK], to: ring}
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import holds

RULE = Rule("TSC301", "write-outside-acquire", Severity.ERROR, "a stage is written without being acquired")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that writes a stage that some path has not acquired."""
    for entry in holds(program):
        if not entry.complete:
            continue
        ring = entry.memory.name
        for index, touches in entry.touches.items():
            states = entry.before.get(index, set())
            bad = [
                s
                for s in states
                if not s.acquired and not (s.waited and any(t.mode == "update" for t in touches))
            ]
            if not bad or not any(touch.writes for touch in touches):
                continue
            step = entry.steps[index]
            paths = "no path" if len(bad) == len(states) else "not every path"
            after = any(state.committed for state in bad)
            yield Finding(
                RULE.name,
                f"`{step.verb}` writes `{ring}` here, and {paths} to it holds an acquired stage",
                Place(step.route, label="written outside `acquire` and `commit`"),
                help=f"put it before `commit: {ring}`" if after else f"put `acquire: {ring}` before it",
            )
