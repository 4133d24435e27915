"""Waits for each matrix product before the next one is issued, where another task waits for its turn.

What it does
    Finds `wgmma_wait: 0` behind a `wgmma` in the loop of a task that takes turns at the tensor cores.

Why is this bad
    The tensor cores idle from the end of a product to the issue of the next, and the others may not use them.
    Measured for ping-pong with tiles of 128 x 192: 9 % at 8192^3. Tasks that share a tile fill each other's
    gaps, and do not gain.

Example
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
    - wgmma_wait: 0
    - release: ab

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
    - wgmma_wait: 1
    - {release: ab, keep: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.wgmma_wait import WgmmaWait
from tsc.program.model import Program, Task
from tsc.program.tree import Loop, Step, walk
from tsc.rules.matrix.products import once

RULE = Rule("TSC702", "product-alone", Severity.ADVICE, "no product runs while the next one is issued")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each wait in a loop that leaves no product running."""
    orders = [order for order in program.orders.values() if order.kind == "turn"]
    taking = {label for order in orders for label in order.participants}
    yield from once(it for task in program.tasks if task.label in taking for it in _of_task(program, task))


def _of_task(program: Program, task: Task) -> Iterator[Finding]:
    for node, _ in walk(task.tree):
        if not isinstance(node, Loop):
            continue
        for piece in node.pieces:
            inside = [it for it in piece.body if isinstance(it, Step)]
            products = [step for step in inside if step.verb == "wgmma"]
            waits = [step for step in inside if step.verb == "wgmma_wait"]
            left = [
                program.values.integer(it.model.wgmma_wait, (*it.route, "wgmma_wait"), it.env)
                for it in waits
                if isinstance(it.model, WgmmaWait)
            ]
            if len(products) == 1 and left == [0]:
                yield Finding(
                    RULE.name,
                    f"`{task.name}` waits for each product before it issues the next, while it has the turn",
                    Place(waits[0].route),
                    (Place(products[0].route, label="the only product that runs"),),
                    help="write `wgmma_wait: 1`, and `keep: 1` at the release",
                )
