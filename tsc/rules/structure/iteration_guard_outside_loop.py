"""Asks for the first, last or every n-th round outside a loop.

What it does
    Checks that `first_iter`, `last_iter` and `every` stand inside a `domain_loop` or a `for`.

Why is this bad
    They speak of the round of the innermost loop, and there is none.

Example
    - domain_loop: k_tiles
      body: [{do: step}]
    - last_iter: [{do: finish}]

Use instead
    - domain_loop: k_tiles
      body:
        - {do: step}
        - last_iter: [{do: finish}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import DomainLoop, Every, FirstIter, For, LastIter, WorkTileLoop

RULE = Rule(
    "TSC126", "iteration-guard-outside-loop", Severity.ERROR, "a guard speaks of the round of no loop"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each guard of rounds without a loop around it."""
    for spot in spots(program):
        if not isinstance(spot.node, (FirstIter, LastIter, Every)) or spot.around(DomainLoop, For):
            continue
        tiles = spot.around(WorkTileLoop)
        also = "; tiles are no rounds" if tiles is not None else ""
        yield Finding(
            RULE.name,
            f"`{spot.verb}` speaks of the rounds of a loop, and stands in none{also}",
            spot.key(),
            help="put it into the body of the `domain_loop` or `for` that it means, or guard by `when`",
        )
