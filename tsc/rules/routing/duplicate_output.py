"""Gives two values one name.

What it does
    Checks that the names under `out` differ within a step, and that a token which several works of a task
    make has one type.

Why is this bad
    Only one of the values could be used under the name.

Example
    - {do: coords, out: [row, row]}

Use instead
    - {do: coords, out: [row, count]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Do

RULE = Rule("TSC158", "duplicate-output", Severity.ERROR, "two values have one name")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name that a step gives twice, and each that has two types in a task."""
    first: dict[tuple[str, str], tuple[str, Place]] = {}
    for spot in spots(program):
        if not isinstance(spot.node, Do):
            continue
        work, names = program.works.get(spot.node.do), spot.node.out
        for i, name in enumerate(names):
            place = Place((*spot.route, "out", i))
            if name == "_":
                continue
            if name in names[:i]:
                yield Finding(
                    RULE.name,
                    f"`{name}` names two values of `{spot.node.do}`",
                    place,
                    help="choose another name, or `_` for a value that is not wanted",
                )
            elif work is not None and i < len(work.returns):
                dtype = work.returns[i][1]
                known, where = first.setdefault((spot.task, name), (dtype, place))
                if known != dtype:
                    yield Finding(
                        RULE.name,
                        f"`{name}` is {dtype} here, and {known} where `{spot.task}` makes it first",
                        place,
                        (Place(where.route, label=f"{known} here"),),
                        help="choose another name for one of the two",
                    )
