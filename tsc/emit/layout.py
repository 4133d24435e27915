"""Shared memory for the generated file: regions, barriers and the constants that name them."""

from __future__ import annotations

from tsc.emit.arrivals import by_rank, weight
from tsc.emit.kernel import Kernel
from tsc.emit.plan import Barriers, Region
from tsc.program.model import Answers, Memory
from tsc.program.queue import running
from tsc.program.storage import ANSWER_BYTES, TENSOR_SLOT_BYTES


def regions(kernel: Kernel) -> tuple[Region, ...]:
    """Return what lies in shared memory, in order of address; barriers come as their own table.

    Copies of an overlay that each lie on a copy below stand apart, so that each is a region.
    """
    found = []
    for memory in kernel.program.memories.values():
        if memory.kind != "smem" or memory.offset is None:
            continue
        stages = max(1, memory.stages or 1)
        size, over = stages * memory.stage_bytes, _over(memory)
        notes = [f"over {over}"] if over else []
        apart = memory.copies > 1 and memory.copy_bytes != size
        if memory.copies > 1 and not apart:
            notes.append(f"{memory.copies} copies of {size:,}")
        notes += [f"{stages} stages of {memory.stage_bytes:,}"] if memory.ring and stages > 1 else []
        if len(memory.buffers) > 1:
            notes += [f"{buffer.name} at {buffer.offset:,}" for buffer in memory.buffers]
        if not apart:
            count = memory.copies
            region = Region(memory.name, memory.offset, size * count, stages * count, ", ".join(notes), over)
            found.append(region)
            continue
        for copy in range(memory.copies):
            begin = memory.offset + copy * memory.copy_bytes
            found.append(Region(f"{memory.name}[{copy}]", begin, size, stages, ", ".join(notes), over))
    answers = kernel.program.queue.answers if kernel.program.queue is not None else None
    if kernel.program.queue is not None and answers is not None:
        size, stages = answers.stages * ANSWER_BYTES, answers.stages
        note = f"{stages} answers of {ANSWER_BYTES}"
        found.append(Region(kernel.program.queue.name, answers.offset, size, stages, note))
    if kernel.program.tensor_slot is not None:
        note = "the address of tensor memory"
        found.append(Region("tensor", kernel.program.tensor_slot, TENSOR_SLOT_BYTES, 1, note))
    # What an overlay lies over stands before it.
    return tuple(sorted(found, key=lambda region: (region.offset, bool(region.over), -region.bytes)))


def _over(memory: Memory) -> str:
    """Return what a resource lies over, as the spec names it, or which stage of that."""
    if memory.over is None:
        return ""
    return str(memory.over) if memory.over_stage is None else f"stage {memory.over_stage} of {memory.over}"


def barriers(kernel: Kernel) -> tuple[Barriers, ...]:
    """Return all mbarriers with their arrivals, in order of address."""
    program = kernel.program
    found: dict[int, Barriers] = {}
    for (name, copy), pipeline in program.pipelines.items():
        if pipeline.store_ring and not pipeline.loaded:
            continue
        memory = program.memories[name]
        group = program.groups.get(memory.group or "")
        for side, offset in (("full", pipeline.full_offset), ("empty", pipeline.empty_offset)):
            shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
            if offset is None or offset in found:
                continue
            owner = group.name if shared and group is not None else name
            members = group.members if shared and group is not None else (name,)
            arrivals = by_rank(kernel, members, copy, "write" if side == "full" else "read")
            label = f"{owner}.{side}" + (f"[{copy}]" if memory.copies > 1 else "")
            base = kernel.place(f"{owner}.{side}", offset) if copy == 0 else ""
            if copy:
                first = program.pipelines[name, 0]
                start = first.full_offset if side == "full" else first.empty_offset
                step = kernel.place(f"{owner}.{side}.copy", (offset - (start or 0)) // copy)
                times = f"{copy} * " if copy > 1 else ""
                base = f"{kernel.place(f'{owner}.{side}', start or 0)} + {times}{step}"
            most, apart = max(1, *arrivals), _apart(arrivals)
            found[offset] = Barriers(label, base, offset, pipeline.stages, most, apart)
    if program.queue is not None and (answers := program.queue.answers) is not None:
        name, stages = program.queue.name, answers.stages
        counts = {"full": answers.full_arrivals, "empty": _given_back(kernel, answers)}
        for side, offset in (("full", answers.full_offset), ("empty", answers.empty_offset)):
            label = f"{name}.{side}"
            found[offset] = Barriers(label, kernel.place(label, offset), offset, stages, max(1, counts[side]))
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


def _apart(arrivals: tuple[int, ...]) -> str:
    """Return the C++ of a count that differs between the CTAs of a cluster, empty where it does not."""
    text = ""
    for count in sorted(set(arrivals), key=lambda count: (arrivals.count(count), count), reverse=True):
        mask = sum(1 << rank for rank, own in enumerate(arrivals) if own == count)
        text = f"(({mask} >> rank) & 1) ? {count} : {text}" if text else str(count)
    return text if len(set(arrivals)) > 1 else ""


def _given_back(kernel: Kernel, answers: Answers) -> int:
    """Return the arrivals by which all tasks of a cluster give an answer back."""
    more = weight(kernel, "warps") - 1
    takers = [task for task in map(kernel.program.task, answers.takers) if not task.single]
    warps = sum((task.warps or 1) * running(task, kernel.cluster_size) for task in takers)
    return answers.empty_arrivals + more * warps
