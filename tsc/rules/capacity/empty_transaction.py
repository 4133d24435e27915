"""Hands over a stage of a TMA ring into which nothing was loaded.

What it does
    Adds up what TMA and bulk copies bring between each `acquire` and its `commit`, and looks for a stage of
    0 bytes among others that are filled.

Why is this bad
    The full barrier would not wait for any data, and the readers get what an earlier round left there.

Example
    - acquire: ring
    - acquire: ring
    - {tma_load: x, to: ring}      # fills the second stage only
    - commit: ring

Use instead
    - acquire: ring
    - {tma_load: x, to: ring}
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.base import Engine
from tsc.program.model import Program
from tsc.program.rings import loads
from tsc.rules.names.lost import lost

RULE = Rule(
    "TSC214", "empty-transaction", Severity.ERROR, "a stage of a TMA ring is handed over without a load"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `acquire` of a stage that no load fills, where its task fills others."""
    for use in program.uses:
        if not use.acquires or Engine.TMA.value not in use.engine_writes:
            continue
        task, memory = program.task(use.task), program.memories[use.ring]
        if task.name in lost(program):
            continue
        found = loads(memory, use.copy, task, program.meanings, program.works)
        if found is None or not memory.stage_bytes:
            continue
        most = max(amount for _, amount in found)
        for step, amount in found:
            if amount == 0 and most:
                yield Finding(
                    RULE.name,
                    f"this stage of `{use.ring}` is handed over with 0 bytes, and others get {most:,} by TMA",
                    Place(step.route, label="nothing is loaded into this one"),
                    help=f"load into it before the next `acquire: {use.ring}`, or take the step away",
                )
