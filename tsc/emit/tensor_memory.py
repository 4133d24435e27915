"""Tensor memory in the generated file: its columns and their allocation, and what orders it with threads."""

from __future__ import annotations

from collections.abc import Iterable

from tsc.emit.kernel import Kernel
from tsc.emit.plan import Constant, Item, Region, Statement, TensorMemory
from tsc.emit.rings import RingEnd
from tsc.ops.base import Engine
from tsc.program.model import Task
from tsc.program.storage import allocated_columns

_ENGINES = frozenset((Engine.TCGEN05, Engine.TMEM))
_OWN = ("", "stage", "copy")  # what is counted in columns; barriers lie in shared memory


def tensor_memory(kernel: Kernel) -> TensorMemory | None:
    """Return what the kernel allocates; nothing where it has no tensor memory."""
    program = kernel.program
    if not program.tmem_columns or program.tensor_slot is None:
        return None
    slot = kernel.place("tensor.slot", program.tensor_slot)
    found = []
    for memory in program.memories.values():
        if memory.kind == "tmem" and memory.offset is not None:
            stages = max(1, memory.stages or 1)
            notes = [f"over {memory.over}"] if memory.over is not None else []
            notes += [f"{memory.copies} copies of {memory.copy_bytes}"] if memory.copies > 1 else []
            notes += [f"{stages} stages of {memory.stage_bytes}"] if stages > 1 else []
            if len(memory.buffers) > 1:
                notes += [f"{buffer.name} at {buffer.offset}" for buffer in memory.buffers]
            size = memory.copy_bytes * memory.copies
            found.append(Region(memory.name, memory.offset, size, stages * memory.copies, ", ".join(notes)))
    return TensorMemory(
        program.tmem_columns,
        allocated_columns(program.tmem_columns),
        slot,
        (program.threads or 32) // 32 - 1,
        tuple(sorted(found, key=lambda region: region.offset)),
        group=kernel.group,
    )


def in_columns(kernel: Kernel, key: str) -> bool:
    """Whether a number of the layout counts columns."""
    owner, _, kind = key.partition(".")
    memory = kernel.program.memories.get(owner)
    return memory is not None and memory.kind == "tmem" and kind in _OWN


def constants(kernel: Kernel) -> tuple[Constant, ...]:
    """Return the numbers of the layout that count columns."""
    owners = list(kernel.program.memories)
    keys = [key for key in kernel.layout if in_columns(kernel, key)]
    return tuple(kernel.layout[key] for key in sorted(keys, key=lambda key: owners.index(key.split(".")[0])))


# ---- order -------------------------------------------------------------------------------------------------


def engines(kernel: Kernel, task: Task, ring: tuple[str, int] | None = None) -> frozenset[Engine]:
    """Return by which of the tensor core and moves of tensor memory a task touches a ring, or anything."""
    return frozenset(
        touch.engine
        for step in task.steps()
        for touch in kernel.program.touches(step, task)
        if touch.engine in _ENGINES
        and (ring is None or (touch.operand is not None and (touch.operand.name, touch.operand.copy) == ring))
    )


def _of(kernel: Kernel, task: Task, ends: Iterable[RingEnd]) -> frozenset[Engine]:
    """Return what a ring step of a task may stand for: a signal, for all that the task does."""
    return frozenset[Engine]().union(
        *(
            engines(kernel, task, None if end.ring.kind == "signal" else (end.ring.name, end.copy))
            for end in ends
        )
    )


def behind_wait(kernel: Kernel, task: Task, end: RingEnd) -> list[Item]:
    """Return what stands between a wait and what the tensor core is asked to do because of it."""
    return [Statement("tensor_fence_after")] if _of(kernel, task, (end,)) else []


def before_arrival(kernel: Kernel, task: Task, ends: Iterable[RingEnd]) -> list[Item]:
    """Return what stands between moves from or to tensor memory and the arrival that tells of them."""
    return [Statement("tensor_fence_before")] if Engine.TMEM in _of(kernel, task, ends) else []
