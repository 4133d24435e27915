"""Names a type of pipeline other than the derived one.

What it does
    Compares `pipeline` with the type that follows from the operations that fill and read the ring.

Why is this bad
    The type decides who arrives at which barrier and how often; a wrong one would hang.

Example
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64], pipeline: AsyncAsync}     # and TMA fills it

Use instead
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64], pipeline: TmaAsync}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.roles.sides import unclear

RULE = Rule("TSC174", "pipeline-mismatch", Severity.ERROR, "`pipeline` is not the derived type")

_SIDES = {"Tma": "TMA fills it", "Umma": "the tensor core fills it", "Async": "threads fill it"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring whose stated type differs."""
    for name in program.memories:
        stated = getattr(program.spec.resources[name], "pipeline", None)
        ring = program.pipelines.get((name, 0))
        if stated is not None and ring is not None and stated != ring.kind and name not in unclear(program):
            why = (
                "only a store engine of the committing task reads it" if ring.store_ring else _why(ring.kind)
            )
            yield Finding(
                RULE.name,
                f"`{name}` is `{ring.kind}`, because {why}, and `pipeline` says `{stated}`",
                Place(("resources", name, "pipeline")),
                help=f"write `pipeline: {ring.kind}`, or leave it out",
            )


def _why(kind: str) -> str:
    side = next(side for side in _SIDES if kind.startswith(side))
    reader = "the tensor core reads it" if kind.endswith("Umma") else "threads or a store engine read it"
    return f"{_SIDES[side]} and {reader}"
