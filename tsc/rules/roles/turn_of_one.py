"""Takes turns, or meets at a barrier, with nobody.

What it does
    Checks that at least two task instances take part in each `turn` and each `barrier`.

Why is this bad
    A turn that is passed to nobody comes back at once, and a barrier of one task is `task_sync`. Most
    likely another task forgot its step.

Example
    math: {warps: 4, schedule: [take: order, pass: order]}     # the only task that names `order`

Use instead
    math: {warps: 4, replicas: 2, schedule: [take: order, pass: order]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.names.lost import lost

RULE = Rule("TSC178", "turn-of-one", Severity.ERROR, "only one task takes part in a turn or barrier")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each turn and barrier with fewer than two participants."""
    if lost(program):
        return  # the other one may be meant there
    for (name, copy), order in program.orders.items():
        if len(order.participants) == 1 and copy == 0:
            yield Finding(
                RULE.name,
                f"`{order.participants[0]}` is alone at the {order.kind} `{name}`",
                Place(order.route, "key"),
                help="let another task take part, or take the steps away"
                + (" (`task_sync` meets a task's own threads)" if order.kind == "barrier" else ""),
            )
