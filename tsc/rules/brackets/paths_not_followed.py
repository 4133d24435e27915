"""Branches so often that the brackets of a ring cannot be followed on every path.

What it does
    Says so where a task has more paths through the steps of a ring than are looked at, or where an `every`
    has too long a period or a `keep` too many stages.

Why is this bad
    The rules about brackets are silent about that ring: nothing is known to be wrong, and nothing is shown to
    be right.

Example
    - {every: 1024, body: [acquire: ring, {do: fill}, commit: ring]}

Use instead
    - {every: 128, body: [acquire: ring, {do: fill}, commit: ring]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import followed

RULE = Rule(
    "TSC314", "paths-not-followed", Severity.ERROR, "a task has too many paths through the steps of a ring"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring copy in a task whose paths were given up."""
    for entry in followed(program):
        if not entry.complete and entry.steps:
            ring, first = entry.memory.name, min(entry.steps)
            yield Finding(
                RULE.name,
                f"`{entry.task.label}` has too many paths through its steps of `{ring}` to follow, "
                "so that their brackets are not checked",
                Place(entry.steps[first].route, label="the first of them"),
                help="write copies as a `for`, give conditions that agree one `key`, or ignore this rule",
            )
