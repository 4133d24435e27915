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

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Pipeline, Program
from tsc.rules.names.lost import lost
from tsc.source.route import Route
from tsc.spec.document import KernelExpect
from tsc.spec.resources import Expect, SignalExpect
from tsc.spec.wording import series

RULE = Rule(
    "TSC175", "expectation-not-met", Severity.ERROR, "an expected figure differs from the derived one"
)

AT_RUN_TIME = "a load is guarded, or moves a run-time number of rows"


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each figure that differs."""
    spec = program.spec
    if lost(program):
        return
    if spec.expect is not None:
        figures: dict[str, int | str | None] = {
            "smem_bytes": program.smem_bytes,
            "tmem_columns": program.tmem_columns,
            "threads": program.threads,
        }
        yield from _compare(program, spec.expect, ("expect",), figures, "the kernel")
    for name, memory in program.memories.items():
        expect = getattr(spec.resources[name], "expect", None)
        if expect is None:
            continue
        size = memory.stage_bytes * max(1, memory.stages or 1)
        figures = {"bytes": size if memory.buffers and memory.stages != 0 else None}
        ring = program.pipelines.get((name, 0))
        if ring is not None:
            figures["full_arrivals"] = ring.full_arrivals
            figures["empty_arrivals"] = ring.empty_arrivals
            figures["tx_bytes"] = ring.tx_bytes if ring.tx_bytes is not None else AT_RUN_TIME
        route = ("resources", name, "expect")
        yield from _compare(program, expect, route, figures, f"`{name}`", _sides(program, ring))


def _sides(program: Program, ring: Pipeline | None) -> dict[str, str]:
    """Say whose arrivals are counted."""
    if ring is None:
        return {}
    sides = {"full_arrivals": ring.producers, "empty_arrivals": ring.consumers}
    return {field: f" ({series(labels)})" if labels else " (nobody)" for field, labels in sides.items()}


def _compare(
    program: Program,
    expect: KernelExpect | Expect | SignalExpect,
    route: Route,
    figures: Mapping[str, int | str | None],
    owner: str,
    whose: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Finding]:
    for field in type(expect).model_fields:
        wanted = program.values.integer(getattr(expect, field), (*route, field))
        derived = figures.get(field, "there is none")
        if wanted is None or derived is None or derived == wanted:
            continue
        known = isinstance(derived, int)
        has = f"is {derived:,}{whose.get(field, '')}" if known else f"is not known when built ({derived})"
        yield Finding(
            RULE.name,
            f"`{field}` of {owner} {has}, and {wanted:,} is expected",
            Place((*route, field)),
            help=f"write `{field}: {derived}`, or change what it counts" if known else f"take `{field}` away",
        )
