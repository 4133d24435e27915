"""Who arrives at a barrier for a task, and how often.

One lane arrives for its warp. That is enough for the hardware, but a race checker sees only threads that
arrive themselves, so that a kernel built for one lets every thread do it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tsc.emit.kernel import Kernel
from tsc.ops.base import Engine
from tsc.program.model import RingUse, Task
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


def counted(kernel: Kernel, members: tuple[str, ...], copy: int, side: Side) -> int:
    """Count the arrivals at a barrier of one ring, or at one that the rings of a group share.

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
    peers = 1 + sum(kernel.axis(axis)[0] - 1 for axis in {axis for ring in rings for axis in ring.multicast})
    one = any(program.memories[ring.ring].released_by == "one" for ring in rings)
    return peers * (max(counts, default=1) if one else sum(counts))


def releases(kernel: Kernel, ring: str) -> list[int]:
    """Count the arrivals by which each task gives back a stage of a ring."""
    program = kernel.program
    return [
        empty_arrivals(program.task(use.task), use)
        * weight(kernel, who(program.task(use.task), [use], "read"))
        for use in program.uses
        if use.ring == ring and use.consumes
    ]
