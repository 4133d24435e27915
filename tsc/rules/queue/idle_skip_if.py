"""Says which tiles to skip, and has nothing to skip.

What it does
    Looks for a `work_tile_loop` with `skip_if` and no `skippable` block.

Why is this bad
    What stands outside `skippable` runs for every tile, so nothing is skipped.

Example
    - work_tile_loop: tiles
      skip_if: lengths[tile.m] == 0
      body: [{do: scale}]

Use instead
    - work_tile_loop: tiles
      skip_if: lengths[tile.m] == 0
      body:
        - skippable: [{do: scale}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Guard, Loop, walk
from tsc.rules.queue.steps import tile_loops

RULE = Rule("TSC330", "idle-skip-if", Severity.WARNING, "a `skip_if` skips nothing")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `skip_if` without `skippable`; a bare `domain_loop` is another rule's."""
    for _, loop in tile_loops(program):
        inside = [node for node, _ in walk(loop.body)]
        skips = any(isinstance(node, Guard) and node.kind == "skippable" for node in inside)
        domain = any(isinstance(node, Loop) and node.kind == "domain_loop" for node in inside)
        if loop.skip_if is not None and not skips and not domain:
            yield Finding(
                RULE.name,
                "`skip_if` leaves `skippable` blocks out, and there is none",
                Place((*loop.route, "skip_if"), "key"),
                help="put what is to be skipped into `skippable`; no task sees a tile that the queue's "
                "own `skip_if` names",
            )
