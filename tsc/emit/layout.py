"""Shared memory for the generated file: regions, barriers and the constants that name them."""

from __future__ import annotations

from tsc.emit.kernel import Kernel
from tsc.emit.plan import Barriers, Region
from tsc.program.model import Group, RingUse, Task
from tsc.program.rings import empty_arrivals, full_arrivals


def regions(kernel: Kernel) -> tuple[Region, ...]:
    """Return what lies in shared memory, in order of address; barriers come as their own table."""
    found = []
    for memory in kernel.program.memories.values():
        if memory.kind != "smem" or memory.offset is None:
            continue
        stages = max(1, memory.stages or 1)
        notes = [f"{stages} stages of {memory.stage_bytes:,}"] if memory.ring and stages > 1 else []
        if memory.copies > 1:
            notes.insert(0, f"{memory.copies} copies of {memory.copy_bytes:,}")
        if len(memory.buffers) > 1:
            notes += [f"{buffer.name} at {buffer.offset:,}" for buffer in memory.buffers]
        size = memory.copy_bytes * memory.copies
        found.append(Region(memory.name, memory.offset, size, stages * memory.copies, ", ".join(notes)))
    return tuple(sorted(found, key=lambda region: region.offset))


def barriers(kernel: Kernel) -> tuple[Barriers, ...]:
    """Return all mbarriers with their arrivals, in order of address."""
    program = kernel.program
    found: dict[int, Barriers] = {}
    for (name, copy), pipeline in program.pipelines.items():
        if pipeline.store_ring:
            continue
        memory = program.memories[name]
        group = program.groups.get(memory.group or "")
        for side, offset, arrivals in (
            ("full", pipeline.full_offset, pipeline.full_arrivals),
            ("empty", pipeline.empty_offset, pipeline.empty_arrivals),
        ):
            shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
            if offset is None or offset in found:
                continue
            owner = group.name if shared and group is not None else name
            if shared and group is not None:
                arrivals = _of_group(kernel, group, copy, side)
            label = f"{owner}.{side}" + (f"[{copy}]" if memory.copies > 1 else "")
            base = kernel.place(f"{owner}.{side}", offset) if copy == 0 else ""
            if copy:
                first = program.pipelines[name, 0]
                start = first.full_offset if side == "full" else first.empty_offset
                step = kernel.place(f"{owner}.{side}.copy", (offset - (start or 0)) // copy)
                times = f"{copy} * " if copy > 1 else ""
                base = f"{kernel.place(f'{owner}.{side}', start or 0)} + {times}{step}"
            found[offset] = Barriers(label, base, offset, pipeline.stages, max(1, arrivals))
    for order in program.orders.values():
        if order.kind != "turn" or order.offset is None:
            continue
        key = order.name + (f".{order.copy}" if order.copy else "")
        for i in range(len(order.participants)):
            before = program.task(order.participants[i - 1])
            count = 1 if before.single else before.warps or 1
            base = kernel.place(key, order.offset) + (f" + {8 * i}" if i else "")
            found[order.offset + 8 * i] = Barriers(f"{key}[{i}]", base, order.offset + 8 * i, 1, count)
    return tuple(found[offset] for offset in sorted(found))


def _of_group(kernel: Kernel, group: Group, copy: int, side: str) -> int:
    """Count arrivals at a barrier that several rings share: a task's are those of the ring where it has
    most.
    """
    program = kernel.program
    most: dict[str, int] = {}
    for use in program.uses:
        if use.ring not in group.members or use.copy != copy:
            continue
        count = _arrivals(program.task(use.task), use, side)
        if count:
            most[use.task] = max(most.get(use.task, 0), count)
    peers = 1
    rings = [program.pipelines[name, copy] for name in group.members if (name, copy) in program.pipelines]
    axes = {axis for ring in rings for axis in ring.multicast}
    if side == "empty":
        peers += sum(kernel.axis(axis)[0] - 1 for axis in axes)
    one = side == "empty" and any(program.memories[ring.ring].released_by == "one" for ring in rings)
    return peers * (max(most.values(), default=1) if one else sum(most.values()))


def _arrivals(task: Task, use: RingUse, side: str) -> int:
    if side == "full":
        return full_arrivals(task, use) if use.produces else 0
    consumes = use.consumes or (use.waits and not use.observes)
    return empty_arrivals(task, use) if consumes else 0
