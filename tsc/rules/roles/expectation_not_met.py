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

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Memory, Pipeline, Program
from tsc.rules.roles.peers_not_counted import differs, of_one_cta
from tsc.rules.roles.sides import unclear
from tsc.source.route import Route
from tsc.spec.document import KernelExpect
from tsc.spec.resources import Expect, SignalExpect
from tsc.spec.wording import series

RULE = Rule(
    "TSC175", "expectation-not-met", Severity.ERROR, "an expected figure differs from the derived one"
)

AT_RUN_TIME = "is not known when built (a load is guarded, or moves a run-time number of rows)"
APART = "differs between the CTAs of a cluster (one of them loads for the others and counts their readers)"


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each figure that differs."""
    expect, unknown = program.spec.expect, unclear(program)
    # A ring that is not synchronised as meant has other barriers than meant.
    if expect is not None and not unknown:
        figures = {field: getattr(program, field) for field in type(expect).model_fields}
        yield from _compare(program, expect, ("expect",), figures, "the kernel", {})
    for name, memory in program.memories.items():
        model, ring = program.spec.resources[name], program.pipelines.get((name, 0))
        mine, stated = getattr(model, "expect", None), getattr(model, "pipeline", None)
        other = ring is not None and stated not in (None, ring.kind)  # of which all else follows
        if mine is not None and name not in unknown and not other:
            sides = {"full_arrivals": ring.producers, "empty_arrivals": ring.consumers} if ring else {}
            whose = {side: f" ({series(who) if who else 'nobody'})" for side, who in sides.items()}
            route = (*memory.route, "expect")
            figures = _figures(program, memory, ring)
            count = program.values.integer(getattr(mine, "empty_arrivals", None), (*route, "empty_arrivals"))
            if ring is not None and of_one_cta(program, ring, count):
                figures["empty_arrivals"] = None  # has a rule of its own
            yield from _compare(program, mine, route, figures, f"`{name}`", whose)


def _figures(program: Program, memory: Memory, ring: Pipeline | None) -> dict[str, int | str | None]:
    size = memory.stage_bytes * max(1, memory.stages or 1)
    figures: dict[str, int | str | None] = {"bytes": size if memory.buffers and memory.stages != 0 else None}
    if ring is not None:
        figures |= {"full_arrivals": ring.full_arrivals, "empty_arrivals": ring.empty_arrivals}
        figures |= {"empty_arrivals": APART} if differs(program, ring) else {}
        figures["tx_bytes"] = ring.tx_bytes if ring.tx_bytes is not None else AT_RUN_TIME
    return figures


def _compare(
    program: Program,
    expect: KernelExpect | Expect | SignalExpect,
    route: Route,
    figures: Mapping[str, int | str | None],
    owner: str,
    whose: Mapping[str, str],
) -> Iterator[Finding]:
    for field in type(expect).model_fields:
        wanted = program.values.integer(getattr(expect, field), (*route, field))
        derived = figures.get(field, "is not known when built (there is none)")
        if wanted is None or derived is None or derived == wanted:
            continue
        known = isinstance(derived, int)
        has = f"is {derived:,}{whose.get(field, '')}" if known else derived
        yield Finding(
            RULE.name,
            f"`{field}` of {owner} {has}, and {wanted:,} is expected",
            Place((*route, field)),
            help=f"write `{field}: {derived}`, or change what it counts" if known else f"take `{field}` away",
        )
