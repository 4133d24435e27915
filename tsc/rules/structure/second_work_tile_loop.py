"""Loops over the tiles twice.

What it does
    Counts the `work_tile_loop`s at the top level of each schedule.

Why is this bad
    A queue hands out each tile once: after the first loop there is none left.

Example
    - work_tile_loop: tiles
      body: [{do: first_half}]
    - work_tile_loop: tiles
      body: [{do: second_half}]

Use instead
    - work_tile_loop: tiles
      body: [{do: first_half}, {do: second_half}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import Spot, spots
from tsc.spec.schedule import WorkTileLoop

RULE = Rule("TSC121", "second-work-tile-loop", Severity.ERROR, "a schedule loops over the tiles twice")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `work_tile_loop` after the first of its task."""
    first: dict[str, Spot] = {}
    for spot in spots(program):
        if isinstance(spot.node, WorkTileLoop) and not spot.above:
            if spot.task in first:
                yield Finding(
                    RULE.name,
                    f"`{spot.task}` loops over tiles a second time",
                    spot.key(),
                    (first[spot.task].key("the first loop"),),
                    help="move its steps into the first loop",
                )
            first.setdefault(spot.task, spot)
