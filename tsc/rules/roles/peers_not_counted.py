"""Counts the readers of a multicast stage in one CTA only.

What it does
    Compares `empty_arrivals` under `expect` with the arrivals of this CTA alone, for rings that a load of
    another CTA fills too, and for those that the tensor cores of a pair fill.

Why is this bad
    Who multicasts writes the stage of every CTA along the axis, and may do so when the readers of all of them
    have given it back; so do the tensor cores of a pair. With the own readers alone the next load or product
    overwrites what a peer still reads.

Example
    launch: {cluster: {m: 2}}
    ab: {kind: smem, stages: 4, expect: {empty_arrivals: 2}, ...}       # two warpgroups in each of two CTAs
    - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab.b, multicast: m}

Use instead
    ab: {kind: smem, stages: 4, expect: {empty_arrivals: 4}, ...}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Pipeline, Program
from tsc.program.multicast import ranks, reached, tellers
from tsc.spec.wording import series

RULE = Rule(
    "TSC180", "peers-not-counted", Severity.ERROR, "an expected count misses the readers of the other CTAs"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each expected count that is right for one CTA, and there are more."""
    for name, memory in program.memories.items():
        ring = program.pipelines.get((name, 0))
        expect = getattr(program.spec.resources[name], "expect", None)
        if ring is None or expect is None or not (ring.multicast or by_pair(program, ring)):
            continue
        route = (*memory.route, "expect", "empty_arrivals")
        wanted = program.values.integer(expect.empty_arrivals, route)
        if not of_one_cta(program, ring, wanted):
            continue
        axes = dict(program.cluster)
        along = " and ".join(f"{axes[axis]} along `{axis}`" for axis in ring.multicast)
        where = f"where loads reach {along}" if along else "where products fill it in both of a pair"
        loads = (
            step
            for task in program.tasks
            for step in task.steps()
            if getattr(step.model, "multicast", None)
            and any(touch.writes and touch.reference.name == name for touch in program.touches(step, task))
        )
        routes = dict.fromkeys(step.route for step in loads)
        yield Finding(
            RULE.name,
            f"`empty_arrivals` of `{name}` is {ring.empty_arrivals:,}, and {wanted:,} counts "
            f"{series(ring.consumers)} of one CTA, {where}",
            Place(route),
            tuple(Place((*one, "multicast"), label="fills the stage of the others too") for one in routes),
            help=f"write `empty_arrivals: {ring.empty_arrivals}`, or take it away: it is derived",
        )


def of_one_cta(program: Program, ring: Pipeline, wanted: int | None) -> bool:
    """Whether a count of arrivals is that of one CTA's readers, and those of others are missing."""
    if differs(program, ring):
        return False
    ctas = 2 if by_pair(program, ring) else told(program, ring, 0)
    return ctas > 1 and wanted is not None and wanted * ctas == ring.empty_arrivals


def by_pair(program: Program, ring: Pipeline) -> bool:
    """Whether the tensor cores of a pair fill a ring in both CTAs, and threads of both read it."""
    return program.spec.launch.cta_group == 2 and ring.kind == "UmmaAsync"


def differs(program: Program, ring: Pipeline) -> bool:
    """Whether the readers that a CTA counts differ between the CTAs of a cluster."""
    return len({told(program, ring, rank) for rank in ranks(program.cluster)}) > 1


def told(program: Program, ring: Pipeline, rank: int) -> int:
    """Return how many CTAs, or pairs that read as one, answer for what the loads of a CTA fill."""
    group = program.spec.launch.cta_group if ring.kind.endswith("Umma") else 1
    return tellers(reached(ring.shared, program.cluster, rank), group)
