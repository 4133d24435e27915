"""Gives a grid beside a queue, or neither of the two.

What it does
    Checks that `launch.grid` is there exactly where there is no queue, and `launch.ctas` only with one.

Why is this bad
    A queue says how many CTAs there are: one a tile, or as many as share the tiles out evenly. Without a
    queue nothing else does.

Example
    launch: {grid: [cdiv(m, 64)]}
    resources:
      tiles: {kind: queue, policy: static, axes: {m: "cdiv(m, 64)"}}

Use instead
    resources:
      tiles: {kind: queue, policy: static, axes: {m: "cdiv(m, 64)"}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC136", "grid-and-queue", Severity.ERROR, "there are both a grid and a queue, or neither")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding where it is not said, or said twice, how many CTAs there are."""
    launch, queue = program.spec.launch, program.queue
    if queue is not None and launch.grid is not None:
        yield Finding(
            RULE.name,
            f"the grid follows from the queue `{queue.name}`, and `grid` gives another",
            Place(("launch", "grid"), "key"),
            (Place(queue.route, "key", label="the queue"),),
            help="take `grid` away",
        )
    if queue is None and launch.grid is None:
        written = "launch" in program.spec.model_fields_set
        yield Finding(
            RULE.name,
            "nothing says how many CTAs there are: there is neither a queue nor a `grid`",
            Place(("launch",) if written else ("resources",), "key"),
            help="write `launch: {grid: [...]}`, or add a resource of kind `queue`",
        )
    if queue is None and launch.grid is not None and launch.ctas is not None:
        yield Finding(
            RULE.name,
            "`ctas` says how many CTAs share the tiles of a queue, and there is none",
            Place(("launch", "ctas"), "key"),
            help="take `ctas` away",
        )
