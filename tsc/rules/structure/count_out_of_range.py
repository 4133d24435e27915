"""Gives a step or a loop a count that is too small to mean anything.

What it does
    Checks that `keep`, `count` and the counts of `store_wait` and `wgmma_wait` are not negative, and
    `unroll`, the `of` of `count_in` and the extents of a `box` at least 1.

Why is this bad
    There is no such number of stages, stores or rounds.

Example
    - store_wait: DEPTH - 2      # with DEPTH = 1

Use instead
    - store_wait: max(0, DEPTH - 2)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr, interval
from tsc.program.model import Program
from tsc.program.names import expressions
from tsc.program.tree import Loop, Step, walk
from tsc.source.route import Route

RULE = Rule("TSC147", "count-out-of-range", Severity.ERROR, "the count of a step or loop is too small")

_LEAST = {
    ("commit", "keep"): 0,
    ("release", "keep"): 0,
    ("skip", "count"): 0,
    ("store_wait", "store_wait"): 0,
    ("wgmma_wait", "wgmma_wait"): 0,
    ("count_in", "of"): 1,
    ("tma_prefetch", "box"): 1,
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each count that is always below its least."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, Loop) and node.unroll is not None and node.unroll < 1:
                yield _finding("unroll", node.kind, node.unroll, 1, (*node.route, "unroll"))
            if isinstance(node, Step) and not isinstance(node.model, str):
                for (verb, key), least in _LEAST.items():
                    if node.verb == verb:
                        for route, expr in expressions(getattr(node.model, key), (*node.route, key)):
                            yield from _judge(program, expr, node.env, (verb, key), least, route)


def _judge(
    program: Program,
    expr: Expr,
    env: Mapping[str, int | bool],
    what: tuple[str, str],
    least: int,
    route: Route,
) -> Iterator[Finding]:
    most = interval(program.flat(expr, env), program.ranges).hi
    if most < least:
        yield _finding(what[1], what[0], most, least, route)


def _finding(key: str, verb: str, value: int, least: int, route: Route) -> Finding:
    what = f"the count of `{verb}`" if key == verb else f"`{key}` of `{verb}`"
    return Finding(
        RULE.name,
        f"{what} is {value:,}, and the least is {least}",
        Place(route),
        help=f"write {least} or more",
    )
