"""Puts a `skippable` block where nothing can skip it.

What it does
    Checks that each `skippable` stands under a `work_tile_loop` with `skip_if`, and in no other
    `skippable`.

Why is this bad
    `skip_if` says when such a block is left out. Without it the block always runs, and a second one
    inside the first changes nothing.

Example
    - work_tile_loop: tiles
      body:
        - skippable: [{do: scale}]

Use instead
    - work_tile_loop: tiles
      skip_if: lengths[tile.m] == 0
      body:
        - skippable: [{do: scale}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Skippable, WorkTileLoop

RULE = Rule("TSC127", "misplaced-skippable", Severity.ERROR, "nothing can skip a `skippable` block")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `skippable` that no `skip_if` is about, or that is inside another."""
    for spot in spots(program):
        if not isinstance(spot.node, Skippable):
            continue
        tiles, outer = spot.around(WorkTileLoop), spot.around(Skippable)
        if outer is not None:
            yield Finding(
                RULE.name,
                "a `skippable` stands inside another, which is skipped as a whole",
                spot.key(),
                (outer.key("the outer one"),),
                help="take the inner `skippable` away and keep its steps",
            )
        elif tiles is None:
            yield Finding(
                RULE.name,
                "a `skippable` stands outside any `work_tile_loop`",
                spot.key(),
                help="put it into a `work_tile_loop` with `skip_if`, or guard by `when`",
            )
        elif tiles.node.skip_if is None:
            yield Finding(
                RULE.name,
                "a `skippable` stands in a `work_tile_loop` without `skip_if`",
                spot.key(),
                (tiles.key("no `skip_if` here"),),
                help="give the `work_tile_loop` a `skip_if`, or take `skippable` away and keep its steps",
            )
