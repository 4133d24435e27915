"""Acquires a stage that some path never commits.

What it does
    Checks that a task holds no acquired stage when it ends, on every path.

Why is this bad
    The readers wait for the stage for ever.

Example
    - acquire: ring
    - {tma_load: x, to: ring}

Use instead
    - acquire: ring
    - {tma_load: x, to: ring}
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import closing, holds, stages
from tsc.rules.brackets.stuck import waiting

RULE = Rule(
    "TSC303",
    "uncommitted-stage",
    Severity.ERROR,
    "a task ends with an acquired stage that it never committed",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring of which a task holds an acquired stage at its end."""
    reported: set[tuple[str, str]] = set()
    for entry in holds(program):
        worst = max((held.acquired for held in entry.ends), default=0)
        ring, (target, _) = entry.memory.name, closing(program, entry)
        if not worst or entry.idle(program, "commit") or (entry.task.name, target) in reported:
            continue  # a commit before its acquire has been reported as one of nothing
        reported.add((entry.task.name, target))
        commits = entry.places("commit", "committed here")
        always = all(held.acquired for held in entry.ends)
        stuck = waiting(program, ring, {entry.copy}, "wait")
        yield Finding(
            RULE.name,
            f"`{entry.task.name}` ends with {stages(worst, entry)} of `{ring}` acquired and not committed"
            + ("" if always else ", on some path"),
            Place(entry.verbs("acquire")[-1].route, label="acquired here"),
            (*commits, *stuck),
            help=f"let every path from `acquire: {ring}` reach a `commit: {target}` that keeps none"
            if commits
            else f"add `commit: {target}` after what fills the stage",
        )
