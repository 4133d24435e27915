"""Which tasks are two agents: the thread that issues for all, and the others of the task.

One agent stands for all threads as long as all of them wait and arrive. Where the leader alone does, another
thread may still be at work on what the leader speaks of. Two are enough, the others are like the second; what
all threads do is left to the others, because the leader comes to its own steps in order anyway.
"""

from __future__ import annotations

from typing import Literal

from tsc.ops.base import Engine
from tsc.program.model import Memory
from tsc.program.tree import Step
from tsc.prove.translate.agent import Part
from tsc.prove.translate.fills import BY_THREADS
from tsc.prove.translate.frame import View

End = tuple[Memory, int, Literal["write", "read"]]

TOGETHER = frozenset(("take", "pass", "sync", "arrive"))
SIDES: dict[str, Literal["write", "read"]] = {
    "acquire": "write",
    "commit": "write",
    "wait": "read",
    "release": "read",
}


def parts_of(view: View) -> tuple[Part, ...]:
    """Return the agents of a task in one CTA."""
    task = view.task
    if task.single or (task.warps or 1) == 1:
        return ("all",)
    steps = list(task.steps())
    ends = {end for step in steps for end in _ends(view, step)}
    led = {end for end in ends if not view.rings.everybody(*end) and not _tensor_memory(view, *end)}
    common = led != ends or any(
        step.verb in TOGETHER or getattr(step.model, "observe", None) or _works(view, step) for step in steps
    )
    return ("leader", "others") if led and common else ("all",)


def _ends(view: View, step: Step) -> list[End]:
    """Return the sides of rings with barriers that a step speaks of."""
    side = SIDES.get(step.verb)
    if side is None:
        return []
    pipelines = view.program.pipelines
    return [
        (memory, copy, side)
        for memory, copy in view.members(step)
        if (pipeline := pipelines.get((memory.name, copy))) is not None and not pipeline.store_ring
    ]


def _tensor_memory(view: View, memory: Memory, copy: int, side: Literal["write", "read"]) -> bool:
    """Whether warps fill a stage of tensor memory: they wait for their stores and meet before the commit."""
    use = view.frame.kernel.use(view.task, memory.name, copy)
    return side == "write" and use is not None and Engine.TMEM.value in use.engine_writes


def _works(view: View, step: Step) -> bool:
    """Whether all threads of the task touch memory at a step."""
    touches = view.program.touches(step, view.task)
    names = view.program.memories.keys() | view.frame.tensors.writers.keys()
    return any(t.engine in BY_THREADS and t.operand is not None and t.operand.name in names for t in touches)
