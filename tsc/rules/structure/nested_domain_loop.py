"""Puts a `domain_loop` inside another loop, or repeats it.

What it does
    Checks that no loop but the `work_tile_loop` stands around a `domain_loop`, and no `repeat`.

Why is this bad
    A task has one domain a tile. A loop that runs several times a tile is a `for`, which nests freely.

Example
    - domain_loop: k_tiles
      body:
        - domain_loop: 4
          body: [{do: step}]

Use instead
    - domain_loop: k_tiles
      body:
        - for: 4
          as: i
          body: [{do: step}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import DomainLoop, For, Repeat

RULE = Rule(
    "TSC124", "nested-domain-loop", Severity.ERROR, "a `domain_loop` stands inside a loop or a `repeat`"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `domain_loop` with a loop or a `repeat` around it."""
    for spot in spots(program):
        outer = spot.around(DomainLoop, For, Repeat)
        if isinstance(spot.node, DomainLoop) and outer is not None:
            yield Finding(
                RULE.name,
                f"a `domain_loop` stands inside `{outer.verb}`, and a task has one domain a tile",
                spot.key(),
                (outer.key("around it"),),
                help="write `for:` with `as:` here",
            )
