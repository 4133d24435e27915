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
from tsc.rules.brackets.ended import ended, first_copy
from tsc.rules.brackets.holds import Holds, holds, named

RULE = Rule("TSC301", "write-outside-acquire", Severity.ERROR, "a stage is written without being acquired")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the steps of a task that write a stage which some path has not acquired."""
    for entry in holds(program):
        alike: dict[tuple[bool, bool], list[int]] = {}
        for index in entry.stray_writes():
            some = len(entry.unheld(index, True)) < len(entry.before[index])
            alike.setdefault((some, bool(entry.verbs("acquire"))), []).append(index)
        for (some, acquired), (first, *others) in alike.items():
            step, ring = entry.steps[first], entry.memory.name
            commits = ended(entry, step, "acquire", "commit", "committed here")
            if not commits and acquired and (not some or _in_loop(entry)):
                commits = entry.places("commit", "committed here")
            copy = first_copy(entry, entry.stray_writes(), step)
            yield Finding(
                RULE.name,
                f"`{named(step)}` writes a stage of `{ring}` here{copy}, "
                f"and {'not every' if some else 'no'} path to it holds an acquired one",
                Place(step.route, label="written outside `acquire` and `commit`"),
                (*entry.places("acquire", "acquired here"), *commits[:1], *entry.also(others, step)),
                help=_mend(ring, some, bool(acquired and commits)),
            )


def _in_loop(entry: Holds) -> bool:
    """Whether a `commit` stands deeper than every `acquire`: in a loop that acquires nothing."""
    depths = {verb: [len(one.route) for one in entry.verbs(verb)] for verb in ("acquire", "commit")}
    return max(depths["commit"], default=0) > max(depths["acquire"], default=0) > 0


def _mend(ring: str, some: bool, closed: bool) -> str:
    always = ", on every path" if some else ""
    if closed:
        return f"put it between `acquire: {ring}` and `commit: {ring}`{always}"
    return f"put `acquire: {ring}` before it{always}"
