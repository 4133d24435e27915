"""Leaves a block without a step.

What it does
    Looks for schedules, bodies and branches that are empty lists.

Why is this bad
    A loop or a condition around nothing does nothing. Most likely its steps were left out, or stand one
    level too far to the left.

Example
    - domain_loop: k_tiles
      body: []

Use instead
    - domain_loop: k_tiles
      body:
        - acquire: ring
        - {tma_load: x, at: [0, loop * 64], to: ring}
        - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.base import StepModel
from tsc.program.model import Program
from tsc.program.names import block_fields, key_of
from tsc.rules.structure.spots import spots

RULE = Rule("TSC120", "empty-block", Severity.ERROR, "a block has no steps")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each block without nodes."""
    for name, task in program.spec.tasks.items():
        if not task.schedule:
            yield Finding(
                RULE.name,
                f"the schedule of `{name}` is empty",
                Place(("tasks", name, "schedule"), "key"),
                help=f"write its steps, or take `{name}` away",
            )
    for spot in spots(program):
        for field in block_fields(spot.node) if isinstance(spot.node, StepModel) else ():
            key = key_of(spot.node, field)
            if getattr(spot.node, field) == ():
                block = f"`{spot.verb}`" if key == spot.verb else f"`{key}` of `{spot.verb}`"
                unwanted = key if key == "else" else spot.verb
                yield Finding(
                    RULE.name,
                    f"{block} is empty",
                    Place((*spot.route, key), "key"),
                    help=f"write the steps below it, or take `{unwanted}` away",
                )
