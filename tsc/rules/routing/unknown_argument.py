"""Gives a work an argument that it does not take.

What it does
    Looks the keys of `with` up among the `args` of the work.

Why is this bad
    The value goes nowhere.

Example
    scale: {args: {row: i32}, writes: [y], cuda: "y(row) = 1.f;"}
    - {do: scale, with: {row: tile.m, colum: 0}}

Use instead
    - {do: scale, with: {row: tile.m}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Do
from tsc.spec.wording import did_you_mean, series

RULE = Rule(
    "TSC155", "unknown-argument", Severity.ERROR, "a step gives a work an argument that it does not take"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each key of `with` that is no argument."""
    for spot in spots(program):
        work = program.works.get(spot.node.do) if isinstance(spot.node, Do) else None
        if work is None:
            continue
        known = [name for name, _ in work.args]
        for name in spot.node.with_:
            if name not in known:
                takes = series(known) if known else "no arguments"
                free = [other for other in known if other not in spot.node.with_]
                yield Finding(
                    RULE.name,
                    f"`{work.name}` takes {takes}, and no `{name}`",
                    Place((*spot.route, "with", name), "key"),
                    (Place((*work.route, "args") if known else work.route, "key", label="the work"),),
                    help=did_you_mean(name, free or known) or f"add `{name}` to `args`, or take it away here",
                )
