"""Uses a token whose work has run again since.

What it does
    Checks that no step between a token's making and its use runs the same work again under other names.

Why is this bad
    A token is the value that its work gave last. The older one no longer fits what the work's later call
    has left behind.

Example
    - {do: next_row, out: [first]}
    - {do: next_row, out: [second]}
    - {do: scale, with: {row: first}}

Use instead
    - {do: next_row, out: [first]}
    - {do: scale, with: {row: first}}
    - {do: next_row, out: [second]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.tokens import uses
from tsc.spec.schedule import Do

RULE = Rule("TSC151", "stale-token", Severity.ERROR, "a token is used after its work has run again")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each use of a token that is stale on some path."""
    for use in uses(program):
        stale = next((token for token in use.made if token is not None and not token.fresh), None)
        if stale is None or None in use.made:
            continue
        again = next(
            step
            for step in use.task.steps()
            if isinstance(step.model, Do) and step.model.do == stale.work and stale.name not in step.model.out
        )
        yield Finding(
            RULE.name,
            f"`{stale.name}` is stale here, because `{stale.work}` has run again since it was made",
            use.mention.place,
            (Place((*again.route, "do"), label="runs again"),),
            help=f"use `{stale.name}` before that, or take its value under the later step's name",
        )
