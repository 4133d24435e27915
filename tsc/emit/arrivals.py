"""Who arrives at a barrier for a task, and how often.

One lane arrives for its warp. That is enough for the hardware, but a race checker sees only threads that
arrive themselves, so that a kernel built for one lets every thread do it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tsc.emit.kernel import Kernel
from tsc.ops.base import Engine
from tsc.program.model import Program, RingUse, Task
from tsc.program.multicast import Shared, ranks, reached
from tsc.program.rings import empty_arrivals, full_arrivals

Side = Literal["write", "read"]
Who = Literal["one", "leader", "warpgroups", "warps", "threads"]

_ENGINES = frozenset((Engine.STORE.value, Engine.TCGEN05.value))


def who(task: Task, uses: Iterable[RingUse], side: Side) -> Who:
    """Return who arrives when a task hands over (`write`) or gives back (`read`) a stage of these rings.

    `one`: its only thread; `leader`: the thread that issues for all; `warpgroups`: one thread of each, since
    a product is over for all of its warps at once; `threads`: each of them by itself.
    """
    if task.single:
        return "one"
    if side == "read":
        engines = frozenset[str]().union(*(use.engine_reads for use in uses))
        if engines == {Engine.WGMMA.value}:
            return "warpgroups"
        return "leader" if engines and engines <= _ENGINES and (task.warps or 1) > 1 else "warps"
    engines = frozenset[str]().union(*(use.engine_writes for use in uses))
    if Engine.CP_ASYNC.value in engines:
        return "threads"
    return "leader" if engines and Engine.THREAD.value not in engines else "warps"


def weight(kernel: Kernel, by: Who) -> int:
    """Return how many arrivals stand for one that the resolver counts."""
    each = {"warps": 32, "warpgroups": 128}.get(by, 1)
    return each if kernel.sanitize else 1


def shared(program: Program, members: Iterable[str], copy: int) -> tuple[Shared, ...]:
    """Return the loads into some rings that several CTAs receive."""
    rings = (program.pipelines.get((name, copy)) for name in members)
    return tuple(sorted({one for ring in rings if ring is not None for one in ring.shared}))


def by_rank(kernel: Kernel, members: tuple[str, ...], copy: int, side: Side) -> tuple[int, ...]:
    """Count the arrivals at a barrier in each CTA of a cluster: a stage is free to be filled again where the
    loads of a CTA go to when the readers of all CTAs that they reach have arrived.
    """
    count = counted(kernel, members, copy, side)
    loads, extents = shared(kernel.program, members, copy), kernel.rank_order()
    if side == "write":
        return tuple(count for _ in ranks(extents))
    return tuple(count * len(reached(loads, extents, rank)) for rank in ranks(extents))


def counted(kernel: Kernel, members: tuple[str, ...], copy: int, side: Side) -> int:
    """Count the arrivals of one CTA at a barrier of one ring, or at one that the rings of a group share.

    A task that uses several of them arrives once for all, as often as for the one where it has most.
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
        count = full_arrivals if side == "write" else empty_arrivals
        counts.append(max(count(task, use) for use in uses) * weight(kernel, who(task, uses, side)))
    rings = [program.pipelines[name, copy] for name in members if (name, copy) in program.pipelines]
    if side == "write":
        return sum(counts)
    one = any(program.memories[ring.ring].released_by == "one" for ring in rings)
    return max(counts, default=1) if one else sum(counts)


def releases(kernel: Kernel, ring: str) -> list[int]:
    """Count the arrivals by which each task gives back a stage of a ring."""
    program = kernel.program
    return [
        empty_arrivals(program.task(use.task), use)
        * weight(kernel, who(program.task(use.task), [use], "read"))
        for use in program.uses
        if use.ring == ring and use.consumes
    ]
