"""Puts a `work_tile_loop` inside another node.

What it does
    Checks that each `work_tile_loop` stands at the top level of its schedule.

Why is this bad
    All tasks that share a ring take the same tiles in the same order. A loop over tiles that runs under a
    condition, or several times, would leave the others waiting.

Example
    - repeat: 2
      as: half
      body:
        - work_tile_loop: tiles
          body: [{do: scale}]

Use instead
    - work_tile_loop: tiles
      body:
        - repeat: 2
          as: half
          body: [{do: scale}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import WorkTileLoop

RULE = Rule(
    "TSC122", "nested-work-tile-loop", Severity.ERROR, "a `work_tile_loop` stands inside another node"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `work_tile_loop` below the top level."""
    for spot in spots(program):
        if isinstance(spot.node, WorkTileLoop) and spot.above:
            outer = spot.above[-1]
            yield Finding(
                RULE.name,
                f"a `work_tile_loop` stands inside `{outer.verb}`, and belongs at the top of the schedule",
                spot.key(),
                (outer.key("around it"),),
                help="move its steps out into the outer loop"
                if isinstance(outer.node, WorkTileLoop)
                else f"put the `{outer.verb}` into the body of the `work_tile_loop`",
            )
