"""Cuts a loop at values that are out of order.

What it does
    Compares neighbouring entries of `split_at` and looks for one that is always behind the next, in the
    direction of the loop.

Why is this bad
    Pieces run one after the other, each up to its own cut. A piece whose cut lies before the last one
    never runs.

Example
    - domain_loop: k_tiles
      split_at: [8, 4]
      body: [{do: step, with: {masked: part == 0}}]

Use instead
    - domain_loop: k_tiles
      split_at: [4, 8]
      body: [{do: step, with: {masked: part == 0}}]
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr, interval, parse, provably, show
from tsc.program.model import Program
from tsc.program.tree import Loop, walk

RULE = Rule("TSC142", "split-out-of-order", Severity.ERROR, "a loop is cut at values that are out of order")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each cut that always lies before the one in front of it."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if not isinstance(node, Loop):
                continue
            down = interval(program.flat(node.step, node.env), program.ranges).hi < 0
            cuts = [piece.until for piece in node.pieces if piece.until is not None]
            for i, (first, second) in enumerate(pairwise(cuts)):
                early, late = (second, first) if down else (first, second)
                if _behind(program, early, late, node):
                    yield Finding(
                        RULE.name,
                        f"the loop is cut at `{first.text}` and then at `{second.text}`, which it has passed",
                        Place((*node.route, "split_at", i + 1)),
                        (Place((*node.route, "split_at", i), label="the cut before"),),
                        help="exchange the two",
                    )


def _behind(program: Program, early: Expr, late: Expr, node: Loop) -> bool:
    a, b = (show(program.flat(cut, node.env)) for cut in (early, late))
    return provably(parse(f"({a}) > ({b})"), program.ranges) is True
