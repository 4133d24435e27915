"""Orders the tiles along an axis that they do not have.

What it does
    Checks that `along` and `reverse` of a queue's order name axes of the queue, each once.

Why is this bad
    There is no such coordinate to go by.

Example
    tiles: {kind: queue, policy: static, axes: {m: 8, n: 8}, order: {kind: linear, reverse: [k]}}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 8, n: 8}, order: {kind: linear, reverse: [n]}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.resources import Queue
from tsc.spec.wording import did_you_mean, series

RULE = Rule(
    "TSC327", "unknown-order-axis", Severity.ERROR, "tiles are ordered along an axis they do not have"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each axis of an order that is unknown or named twice."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, Queue):
            continue
        route: Route = ("resources", name, "order")
        along = getattr(model.order, "along", None)
        reverse: tuple[str, ...] = getattr(model.order, "reverse", ())
        used = [((*route, "along"), along)] if along is not None else []
        used += [((*route, "reverse", i), axis) for i, axis in enumerate(reverse)]
        for i, (where, axis) in enumerate(used):
            if axis not in model.axes:
                yield Finding(
                    RULE.name,
                    f"`{axis}` is no axis of `{name}`, which has {series(model.axes)}",
                    Place(where),
                    help=did_you_mean(axis, model.axes) or f"write {series(model.axes, 'or')}",
                )
            elif axis in (other for _, other in used[:i]):
                yield Finding(
                    RULE.name,
                    f"`{axis}` is reversed twice",
                    Place(where),
                    help="name each axis once",
                )
