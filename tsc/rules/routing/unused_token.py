"""Makes a token that nothing uses.

What it does
    Looks for names under `out` that no expression of the task and no snippet of its works mentions.

Why is this bad
    The value is computed for nothing. Most likely a `with` was forgotten.

Example
    - {do: coords, out: [row, count]}
    - {do: scale, with: {row: row}}

Use instead
    - {do: coords, out: [row, _]}
    - {do: scale, with: {row: row}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.snippet import identifiers
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Do

RULE = Rule("TSC153", "unused-token", Severity.WARNING, "nothing uses a token")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each token that is never mentioned."""
    used: dict[str, set[str]] = {name: set() for name in program.spec.tasks}
    for site in program.sites:
        if site.task in used:
            used[site.task] |= {name.text for name in site.expr.names}
    made = [spot for spot in spots(program) if isinstance(spot.node, Do)]
    for spot in made:
        used[spot.task] |= identifiers(program, spot.node.do)
    for spot in made:
        for i, name in enumerate(spot.node.out):
            if name != "_" and name not in used[spot.task]:
                yield Finding(
                    RULE.name,
                    f"nothing in `{spot.task}` uses `{name}`",
                    Place((*spot.route, "out", i)),
                    help="write `_` in its place, or use it",
                )
