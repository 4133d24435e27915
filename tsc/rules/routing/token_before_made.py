"""Uses a token that some path has not made.

What it does
    Follows every path through the schedule and checks that a token has been made where it is used: the
    step that names it under `out` has run, in every case and in every round.

Why is this bad
    The value would be whatever the register held before.

Example
    - when: tile.m > 0
      then:
        - {do: coords, out: [row]}
    - {do: scale, with: {row: row}}

Use instead
    - {do: coords, out: [row]}
    - {do: scale, with: {row: row}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.tokens import made_at, uses

RULE = Rule("TSC150", "token-before-made", Severity.ERROR, "a token is used where some path has not made it")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each use of a token that is missing on some path."""
    for use in uses(program):
        name = use.mention.name
        if None not in use.made:
            continue
        paths = "no path to it has" if use.made == (None,) else "not every path to it has"
        yield Finding(
            RULE.name,
            f"`{name}` is used here, and {paths} made it",
            use.mention.place,
            (Place(made_at(use.task)[name], label="made here"),),
            help=f"move the step that makes `{name}` before it, out of conditions and loops that it may miss",
        )
