"""Who arrives at a barrier for a task, and how often.

One lane arrives for its warp. That is enough for the hardware, but a race checker sees only threads that
arrive themselves, so that a kernel built for one lets every thread do it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tsc.emit.kernel import Kernel
from tsc.ops.base import Engine
from tsc.program.arrivals import Side, Who, arrivals, one_of_all, who
from tsc.program.model import Program, RingUse
from tsc.program.multicast import Shared, ranks, reached, tellers


def weight(kernel: Kernel, by: Who) -> int:
    """Return how many arrivals stand for one that the resolver counts."""
    each = {"warps": 32, "warpgroups": 128}.get(by, 1)
    return each if kernel.sanitize else 1


def shared(program: Program, members: Iterable[str], copy: int) -> tuple[Shared, ...]:
    """Return the loads into some rings that several CTAs receive."""
    rings = (program.pipelines.get((name, copy)) for name in members)
    return tuple(sorted({one for ring in rings if ring is not None for one in ring.shared}))


def group_of(program: Program, members: Iterable[str], copy: int) -> int:
    """Return how many CTAs read some rings as one: 2 where the tensor cores of a pair do."""
    rings = (program.pipelines.get((name, copy)) for name in members)
    by_core = any(ring is not None and ring.kind.endswith("Umma") for ring in rings)
    return program.spec.launch.cta_group if by_core else 1


def by_rank(kernel: Kernel, members: tuple[str, ...], copy: int, side: Side) -> tuple[int, ...]:
    """Count the arrivals at a barrier in each CTA of a cluster: a stage is free to be filled again where the
    loads of a CTA go to when the readers of all CTAs that they reach have arrived.
    """
    count = counted(kernel, members, copy, side)
    loads, extents = shared(kernel.program, members, copy), kernel.rank_order()
    if side == "write":
        if any(kernel.filled_by_threads_of_both(name, copy) for name in members):
            # Bytes are no arrivals: the leader of a pair announces those of both, and arrives alone for them.
            count += counted(kernel, members, copy, side, announced=False)
        return tuple(count for _ in ranks(extents))
    group = group_of(kernel.program, members, copy)
    return tuple(count * tellers(reached(loads, extents, rank), group) for rank in ranks(extents))


def counted(kernel: Kernel, members: tuple[str, ...], copy: int, side: Side, announced: bool = True) -> int:
    """Count the arrivals of one CTA at a barrier of one ring, or at one that the rings of a group share.

    A task that uses several of them arrives once for all, as often as for the one where it has most. Those
    that come with the announcement of bytes are left out without `announced`.
    """
    program = kernel.program
    by_task: dict[str, list[RingUse]] = {}
    for use in program.uses:
        gives = use.produces if side == "write" else use.consumes or (use.waits and not use.observes)
        if use.ring in members and use.copy == copy and gives:
            by_task.setdefault(use.task, []).append(use)
    counts = []
    for label, uses in by_task.items():
        task = program.task(label)
        if not announced and all(use.engine_writes == {Engine.TMA.value} for use in uses):
            continue
        counts.append(arrivals(task, uses, side) * weight(kernel, who(task, uses, side)))
    one = any(one_of_all(program.memories[name], side) for name in members)
    total = max(counts, default=1) if one else sum(counts)
    return total * (pair(kernel, members, copy) if side == "read" else 1)


def pair(kernel: Kernel, members: tuple[str, ...], copy: int) -> int:
    """Return of how many CTAs the readers answer for a stage: both of a pair whose tensor cores fill it."""
    engines = [kernel.engines(name, copy) for name in members]
    reads, writes = (
        any(Engine.TCGEN05.value in each for each in side) for side in zip(*engines, strict=True)
    )
    return kernel.program.spec.launch.cta_group if writes and not reads else 1


def releases(kernel: Kernel, ring: str) -> list[int]:
    """Count the arrivals by which each task gives back a stage of a ring."""
    program = kernel.program
    return [
        arrivals(program.task(use.task), [use], "read")
        * weight(kernel, who(program.task(use.task), [use], "read"))
        for use in program.uses
        if use.ring == ring and use.consumes
    ]
