"""Leaves the `domain_loop` outside `skippable` where tiles can be skipped.

What it does
    Checks, under a `work_tile_loop` with `skip_if`, that the `domain_loop` stands in a `skippable`.

Why is this bad
    What stands outside runs for every tile, so the payload of a skipped tile would be worked on all the
    same.

Example
    - work_tile_loop: tiles
      skip_if: lengths[tile.m] == 0
      body:
        - domain_loop: k_tiles
          body: [{do: step}]

Use instead
    - work_tile_loop: tiles
      skip_if: lengths[tile.m] == 0
      body:
        - skippable:
            - domain_loop: k_tiles
              body: [{do: step}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import DomainLoop, Skippable, WorkTileLoop

RULE = Rule(
    "TSC128",
    "domain-loop-outside-skippable",
    Severity.ERROR,
    "a `domain_loop` runs for tiles that are skipped",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `domain_loop` that a `skip_if` does not skip."""
    for spot in spots(program):
        tiles = spot.around(WorkTileLoop)
        if not isinstance(spot.node, DomainLoop) or tiles is None or tiles.node.skip_if is None:
            continue
        if spot.around(Skippable) is None:
            yield Finding(
                RULE.name,
                "the `domain_loop` stands outside `skippable`, and runs for the tiles that `skip_if` names",
                spot.key(),
                (tiles.key("skips tiles"),),
                help="put it into a `skippable` block",
            )
