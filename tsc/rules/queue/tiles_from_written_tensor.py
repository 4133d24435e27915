"""Chooses tiles by what the kernel itself writes.

What it does
    Looks for tensors that a queue's `skip_if` or its order reads, and that a step of the kernel writes.

Why is this bad
    Each task works out for itself which tiles it has. One that looks before the write and one that looks
    after it have different tiles, and wait for each other for ever.

Example
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: lengths[tile.m] == 0}
    - {store: lengths, from: rest, at: [tile.m]}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 64}, skip_if: lengths[tile.m] == 0}
    - {store: left, from: rest, at: [tile.m]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Queue
from tsc.source.route import Route

RULE = Rule(
    "TSC333", "tiles-from-written-tensor", Severity.ERROR, "tiles depend on a tensor that the kernel writes"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each such tensor, at what reads it, with the writes beside it."""
    queue = program.queue
    if queue is None:
        return
    for route, what, names in _readers(program, queue):
        for name in sorted(names & program.tensors.keys()):
            writes = _writes(program, name)
            if writes:
                yield Finding(
                    RULE.name,
                    f"{what} of `{queue.name}` reads `{name}`, which the kernel writes, so that tasks may "
                    "have different tiles",
                    Place(route),
                    tuple(Place(one, label=f"writes `{name}`") for one in writes[:3]),
                    help=f"read another tensor there, or leave the writing of `{name}` to another kernel",
                )


def _readers(program: Program, queue: Queue) -> Iterator[tuple[Route, str, set[str]]]:
    if queue.skip_if is not None:
        flat = program.flat(queue.skip_if)
        yield (*queue.route, "skip_if"), "`skip_if`", {name.text for name in flat.names}
    table = getattr(queue.order, "from_", None)
    if table is not None:
        yield (*queue.route, "order", "from"), "the order", {str(table)}


def _writes(program: Program, name: str) -> list[Route]:
    found: dict[Route, None] = {}
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                operand = touch.operand
                if touch.writes and operand is not None and operand.kind == "tensor" and operand.name == name:
                    found[step.route] = None
    return list(found)
