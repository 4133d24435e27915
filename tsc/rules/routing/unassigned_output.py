"""Returns a value that the snippet never assigns.

What it does
    Looks for each name under `returns` in the snippet.

Why is this bad
    The token would be whatever the register held before.

Example
    coords: {returns: {row: i32, count: i32}, cuda: "row = 1;"}

Use instead
    coords: {returns: {row: i32, count: i32}, cuda: "row = 1; count = 2;"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.snippet import identifiers

RULE = Rule("TSC165", "unassigned-output", Severity.ERROR, "a work returns a value that it never assigns")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each returned name that the text does not mention."""
    for work in program.works.values():
        used = identifiers(program, work.name)
        for name, dtype in work.returns if work.text is not None else ():
            if name not in used:
                yield Finding(
                    RULE.name,
                    f"`{work.name}` returns `{name}`, and its snippet never assigns it",
                    Place((*work.route, "returns", name), "key"),
                    help=f"write `{name} = ...;` ({dtype}) in the snippet, or take it out of `returns`",
                )
