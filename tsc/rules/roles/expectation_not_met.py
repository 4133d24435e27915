"""Expects a figure that comes out otherwise.

What it does
    Compares `expect` of the kernel and of its rings with what is derived: bytes, transaction bytes,
    arrivals, threads.

Why is this bad
    The author counted something else than what the schedule does.

Example
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64], expect: {full_arrivals: 32}}   # TMA makes 1

Use instead
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64], expect: {full_arrivals: 1}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.source.route import Route

RULE = Rule(
    "TSC175", "expectation-not-met", Severity.ERROR, "an expected figure differs from the derived one"
)

_DERIVED_AT_RUN_TIME = "is only known at run time"


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each figure that differs."""
    spec = program.spec
    if spec.expect is not None:
        figures = {
            "smem_bytes": program.smem_bytes,
            "tmem_columns": program.tmem_columns,
            "threads": program.threads,
        }
        yield from _compare(program, spec.expect, ("expect",), figures, "the kernel", {})
    for name, memory in program.memories.items():
        expect = getattr(spec.resources[name], "expect", None)
        ring = program.pipelines.get((name, 0))
        if expect is None:
            continue
        figures = {"bytes": memory.stage_bytes * max(1, memory.stages or 1)}
        if ring is not None:
            figures |= {"full_arrivals": ring.full_arrivals, "empty_arrivals": ring.empty_arrivals}
            figures["tx_bytes"] = ring.tx_bytes if ring.tx_bytes is not None else -1
        why = {}
        if ring is not None:
            why["full_arrivals"] = " by " + (", ".join(f"`{p}`" for p in ring.producers) or "nobody")
            why["empty_arrivals"] = " by " + (", ".join(f"`{c}`" for c in ring.consumers) or "nobody")
        yield from _compare(program, expect, ("resources", name, "expect"), figures, f"`{name}`", why)


def _compare(
    program: Program,
    expect: object,
    route: Route,
    figures: dict[str, int | None],
    owner: str,
    why: dict[str, str],
) -> Iterator[Finding]:
    for field in type(expect).model_fields:  # type: ignore[attr-defined]
        wanted = program.values.integer(getattr(expect, field), (*route, field))
        derived = figures.get(field)
        if wanted is None or derived == wanted or (derived is None and field in figures):
            continue
        has = "has none" if derived is None else _DERIVED_AT_RUN_TIME if derived < 0 else f"is {derived:,}"
        yield Finding(
            RULE.name,
            f"`{field}` of {owner} {has}{why.get(field, '')}, and {wanted:,} is expected",
            Place((*route, field)),
            help=f"write `{field}: {derived}`, or change what it counts"
            if derived is not None and derived >= 0
            else f"take `{field}` away",
        )
