"""Who arrives at a barrier for a task and how often, and which stages it takes: asked by all who count
arrivals and by all who make them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tsc.ops.base import Engine
from tsc.program.model import Memory, RingUse, Task

Side = Literal["write", "read"]
Who = Literal["one", "leader", "warpgroups", "warps", "threads"]

_ENGINES = frozenset((Engine.STORE.value, Engine.TCGEN05.value))
_THREADS = frozenset((Engine.THREAD.value, Engine.TMEM.value))
# Who touches no payload hands over what its threads did elsewhere.
_NOBODY = frozenset((Engine.THREAD.value,))


def who(task: Task, uses: Iterable[RingUse], side: Side) -> Who:
    """Return who arrives when a task hands over (`write`) or gives back (`read`) a stage of these rings.

    `one`: its only thread; `leader`: the thread that issues for all; `warpgroups`: one thread of each, since
    a product is over for all of its warps at once; `threads`: each of them by itself.
    """
    if task.single:
        return "one"
    if side == "read":
        engines = frozenset[str]().union(*(use.engine_reads or _NOBODY for use in uses))
        if engines == {Engine.WGMMA.value}:
            return "warpgroups"
        return "leader" if engines and engines <= _ENGINES and (task.warps or 1) > 1 else "warps"
    engines = frozenset[str]().union(*(_filling(use) or _NOBODY for use in uses))
    if Engine.CP_ASYNC.value in engines:
        return "threads"
    return "leader" if engines and not engines & _THREADS else "warps"


def _filling(use: RingUse) -> frozenset[str]:
    """Return by what a task touches stages that it has acquired: its threads may read what came back."""
    return use.engine_writes if use.waits else use.engine_writes | use.engine_reads & _THREADS


def arrivals(task: Task, uses: Iterable[RingUse], side: Side) -> int:
    """Return how often a task arrives for a stage of these rings, which share the barrier."""
    match who(task, uses, side):
        case "one" | "leader":
            return 1
        case "threads":
            return task.threads
        case "warpgroups":
            return -(-(task.warps or 0) // 4)
    return task.warps or 0


def one_of_all(memory: Memory, side: Side) -> bool:
    """Whether each stage is handed on by one of the tasks of a side alone: lanes, or `released_by: one`."""
    lanes = memory.lanes[0 if side == "write" else 1]
    return lanes > 1 or (side == "read" and memory.released_by == "one")


def steps_of(memory: Memory, task: Task, side: Side) -> tuple[int, int]:
    """Return the first stage that a task takes on a side of a ring, and the distance to its next one."""
    lanes = memory.lanes[0 if side == "write" else 1]
    return (task.replica or 0, lanes) if lanes > 1 and task.replicas == lanes else (0, 1)
