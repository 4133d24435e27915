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
from tsc.rules.brackets.holds import holds, named

RULE = Rule("TSC301", "write-outside-acquire", Severity.ERROR, "a stage is written without being acquired")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that writes a stage that some path has not acquired."""
    for entry in holds(program):
        for index in entry.stray_writes():
            step, ring, bad = entry.steps[index], entry.memory.name, entry.unheld(index, True)
            some = len(bad) < len(entry.before[index])
            acquires = entry.places("acquire", "acquired here")
            commits = () if some else entry.places("commit", "committed here")[: len(acquires)]
            mend = f"put `acquire: {ring}` before it" + (", on every path" if some else "")
            yield Finding(
                RULE.name,
                f"`{named(step)}` writes a stage of `{ring}` here, "
                f"and {'not every' if some else 'no'} path to it holds an acquired one",
                Place(step.route, label="written outside `acquire` and `commit`"),
                (*acquires, *commits),
                help=f"put it between `acquire: {ring}` and `commit: {ring}`"
                if acquires and not some
                else mend,
            )
