"""Stores a box by TMA at a coordinate that may be negative.

What it does
    Bounds the coordinates of `tma_store` and `tma_reduce` by what is known of their names, by the
    conditions around the step and by `assert`, and reports one that may be less than zero.

Why is this bad
    Loads fill what lies before the tensor, and stores leave out what lies behind it, but a store at a
    negative coordinate faults on Hopper (illegal instruction, measured on an H200).

Example
    - {tma_store: y, at: [tile.m * 64 - 1, 0], from: ring}

Use instead
    - {tma_store: y, at: [tile.m * 64, 0], from: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr, Interval, interval, provably
from tsc.program.conditions import parsed
from tsc.program.model import Program
from tsc.program.ranges import facts_at, ranges_at
from tsc.program.tree import Node, Step, walk

RULE = Rule(
    "TSC524", "store-before-the-tensor", Severity.ERROR, "a TMA store may begin at a negative coordinate"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each coordinate of a store that may be negative, where its names are bounded."""
    for task in program.tasks:
        for node, above in walk(task.tree):
            if not isinstance(node, Step) or node.verb not in ("tma_store", "tma_reduce"):
                continue
            ranges = ranges_at(program, task, above)
            for i, coordinate in enumerate(getattr(node.model, "at", None) or ()):
                flat = program.flat(coordinate, node.env)
                if any(name.text not in ranges for name in flat.names):
                    continue
                low = interval(flat, ranges).lo
                if low < 0 and not _proven(program, flat, ranges, node, above):
                    yield Finding(
                        RULE.name,
                        f"`{coordinate.text}` may be {low:,}, and `{node.verb}` faults before the tensor",
                        Place((*node.route, "at", i)),
                        help=f"begin at 0 or more, or write `assert: [{coordinate.text} >= 0]`"
                        if all(n.text in program.dims or n.text in program.scalars for n in flat.names)
                        else "begin at 0 or more: stores leave out what lies behind the tensor only",
                    )


def _proven(
    program: Program, flat: Expr, ranges: dict[str, Interval], step: Step, above: tuple[Node, ...]
) -> bool:
    """Whether the conditions around the step, or what the spec asserts, keep the coordinate at 0 or more."""
    asked = parsed(f"({flat.text}) >= 0")
    return any(provably(one, ranges, facts_at(program, step, above)) for one in asked)
