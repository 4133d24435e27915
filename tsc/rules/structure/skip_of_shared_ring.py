"""Skips stages of a ring that every consumer has to give back.

What it does
    Checks that `skip` names a ring of `released_by: one`.

Why is this bad
    With `released_by: all` a stage becomes empty when all consumers have released it. One that skips a
    stage never does, and the producer waits for ever.

Example
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
    - {skip: ring, count: k_tiles}

Use instead
    ring: {kind: smem, stages: 4, released_by: one, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Skip

RULE = Rule("TSC144", "skip-of-shared-ring", Severity.ERROR, "a consumer skips stages that all must release")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `skip` of a ring that is not `released_by: one`."""
    for spot in spots(program):
        if not isinstance(spot.node, Skip):
            continue
        memory = program.memories.get(spot.node.skip.name)
        if memory is not None and memory.ring and memory.released_by == "all":
            yield Finding(
                RULE.name,
                f"each consumer of `{memory.name}` releases every stage, and `{spot.task}` skips some",
                spot.key(),
                (Place(memory.route, "key", label="the ring"),),
                help=f"write `released_by: one` on `{memory.name}`, or wait for and release the stages",
            )
