"""Names more or fewer values than a work returns.

What it does
    Counts the names under `out` and the values under `returns` of the work. `_` stands for a value that
    is not wanted.

Why is this bad
    Names take values by their place, so one too few or too many means that the author had another work in
    mind. A token of a work that returns nothing has no value.

Example
    coords: {returns: {row: i32, count: i32}, cuda: "row = 0; count = 1;"}
    - {do: coords, out: [row]}

Use instead
    - {do: coords, out: [row, _]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Do
from tsc.spec.wording import series

RULE = Rule(
    "TSC152", "out-count-mismatch", Severity.ERROR, "`out` names another number of values than there are"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that names another number of values than its work returns."""
    for spot in spots(program):
        work = program.works.get(spot.node.do) if isinstance(spot.node, Do) else None
        if work is None or len(work.returns) == len(spot.node.out):
            continue
        names = spot.node.out
        returned = [name for name, _ in work.returns]
        gives = f"returns {series(returned)}" if returned else "returns nothing"
        takes = f"this names {series(names)}" if names else "this names nothing"
        all_of = ", ".join([*names, *("_" for _ in returned[len(names) :])][: len(returned)])
        yield Finding(
            RULE.name,
            f"`{work.name}` {gives}, and {takes}",
            Place((*spot.route, "out")) if names else spot.at("do"),
            (Place((*work.route, "returns") if returned else work.route, "key", label="the work"),),
            help=f"write `out: [{all_of}]`" if returned else "take `out` away, or give the work `returns`",
        )
