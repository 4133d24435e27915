"""Asks for an order of two axes where the tiles have one.

What it does
    Finds `group_major`, `serpentine` and `hilbert` on a queue with a single axis.

Why is this bad
    They differ from `linear` in how they go from row to row, and there is one row: the order does nothing.

Example
    tiles: {kind: queue, policy: static, axes: {m: 64}, order: {kind: group_major, along: m, group: 8}}

Use instead
    tiles: {kind: queue, policy: static, axes: {m: 64}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import Queue

RULE = Rule("TSC602", "idle-tile-order", Severity.WARNING, "an order of two axes has one to order")
_PLANES = ("group_major", "serpentine", "hilbert")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each such queue."""
    for name, model in program.spec.resources.items():
        kind = getattr(model.order, "kind", "") if isinstance(model, Queue) else ""
        if isinstance(model, Queue) and kind in _PLANES and len(model.axes) == 1:
            (axis,) = model.axes
            yield Finding(
                RULE.name,
                f"`{kind}` goes through rows and columns, and `{name}` has `{axis}` alone",
                Place(("resources", name, "order")),
                help="take `order` away, or give the tiles a second axis",
            )
