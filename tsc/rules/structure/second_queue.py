"""Declares a second queue.

What it does
    Counts the resources of kind `queue`.

Why is this bad
    The queue says what a tile is and how many CTAs run; all tasks take their tiles from the same one.

Example
    tiles: {kind: queue, policy: static, axes: {m: 64}}
    more_tiles: {kind: queue, policy: static, axes: {n: 64}}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 64, n: 64}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import Queue

RULE = Rule("TSC140", "second-queue", Severity.ERROR, "there are two queues")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each queue after the first."""
    queues = [name for name, model in program.spec.resources.items() if isinstance(model, Queue)]
    for name in queues[1:]:
        yield Finding(
            RULE.name,
            f"`{name}` is a second queue beside `{queues[0]}`, and a kernel has one",
            Place(("resources", name), "key"),
            (Place(("resources", queues[0]), "key", label="the first queue"),),
            help=f"give `{queues[0]}` the axes of both",
        )
