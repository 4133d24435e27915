"""Shared memory for the generated file: regions, barriers and the constants that name them."""

from __future__ import annotations

from tsc.emit.arrivals import counted, weight
from tsc.emit.kernel import Kernel
from tsc.emit.plan import Barriers, Region


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
        for side, offset in (("full", pipeline.full_offset), ("empty", pipeline.empty_offset)):
            shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
            if offset is None or offset in found:
                continue
            owner = group.name if shared and group is not None else name
            members = group.members if shared and group is not None else (name,)
            arrivals = counted(kernel, members, copy, "write" if side == "full" else "read")
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
            count = 1 if before.single else (before.warps or 1) * weight(kernel, "warps")
            base = kernel.place(key, order.offset) + (f" + {8 * i}" if i else "")
            found[order.offset + 8 * i] = Barriers(f"{key}[{i}]", base, order.offset + 8 * i, 1, count)
    return tuple(found[offset] for offset in sorted(found))
