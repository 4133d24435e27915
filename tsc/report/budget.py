"""What a CTA has and what it gives away: registers by warpgroup, shared and tensor memory by address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.emit.roles import REGISTERS, warpgroup_registers
from tsc.program.model import Memory, Program
from tsc.program.storage import ANSWER_BYTES


@dataclass(frozen=True, slots=True)
class Warpgroup:
    """Registers a thread of one warpgroup, and who runs there; `set_by_task` where a task asks for them."""

    number: int
    warps: tuple[int, int]  # first and last
    tasks: tuple[str, ...]
    registers: int
    set_by_task: bool

    @property
    def total(self) -> int:
        """Registers of all its threads."""
        return self.registers * 32 * (self.warps[1] - self.warps[0] + 1)


@dataclass(frozen=True, slots=True)
class Place:
    """A resource in shared memory (bytes) or tensor memory (columns), one entry a copy.

    `buffers` have their offset inside a stage. `over` names what it lies on. A gap is called `(padding)`.
    """

    name: str
    kind: str
    offset: int
    size: int
    stages: int | None
    stage_size: int
    align: int
    swizzle: tuple[int, ...] = ()
    buffers: tuple[tuple[str, int, int], ...] = ()  # name, offset, size
    over: str = ""


@dataclass(frozen=True, slots=True)
class BarrierArray:
    """mbarriers side by side, one a stage: arrivals of a phase, and the bytes of loads that it counts."""

    name: str
    offset: int
    count: int
    arrivals: int
    bytes: int | None = None


def warpgroups(program: Program) -> tuple[Warpgroup, ...]:
    """Return the warpgroups in order; nothing where the warps are not known."""
    if program.threads is None:
        return ()
    found = []
    warps = program.threads // 32
    for number, count in enumerate(warpgroup_registers(program)):
        first, last = 4 * number, min(4 * number + 3, warps - 1)
        here = [
            task
            for task in program.tasks
            if task.first_warp is not None
            and task.first_warp <= last
            and first < task.first_warp + (task.warps or 0)
        ]
        asked = any(task.registers is not None for task in here)
        found.append(Warpgroup(number, (first, last), tuple(task.label for task in here), count, asked))
    return tuple(found)


def register_limit(program: Program) -> int:
    """Return the registers that one CTA may have."""
    return REGISTERS // program.spec.launch.ctas_per_sm


def memory_map(program: Program, kind: str = "smem") -> tuple[Place, ...]:
    """Return what lies where, by address, gaps included; what overlays something comes behind it."""
    places = [
        place for memory in program.memories.values() if memory.kind == kind for place in _copies(memory)
    ]
    answers = program.queue.answers if program.queue is not None else None
    if program.queue is not None and answers is not None and kind == "smem":
        size, stages = ANSWER_BYTES * answers.stages, answers.stages
        name = program.queue.name
        places.append(Place(name, kind, answers.offset, size, stages, ANSWER_BYTES, ANSWER_BYTES))
    places.sort(key=lambda place: (place.offset, bool(place.over), -place.size))
    found, end = [], 0
    for place in places:
        if place.offset > end:
            found.append(Place("(padding)", kind, end, place.offset - end, None, 0, 1))
        found.append(place)
        end = max(end, place.offset + place.size)
    return tuple(found)


def _copies(memory: Memory) -> Iterator[Place]:
    if memory.offset is None:
        return
    size = memory.stage_bytes * max(1, memory.stages or 1)
    for copy in range(memory.copies):
        over = ""
        if memory.over is not None:
            over = str(memory.over) + (f" stage {memory.over_stage}" if memory.over_stage is not None else "")
        yield Place(
            f"{memory.name}[{copy}]" if memory.copies > 1 else memory.name,
            memory.kind,
            memory.offset + copy * memory.copy_bytes,
            size,
            memory.stages,
            memory.stage_bytes,
            memory.align,
            tuple(sorted({buffer.swizzle for buffer in memory.buffers if buffer.swizzle})),
            tuple((buffer.name, buffer.offset, buffer.bytes) for buffer in memory.buffers),
            over,
        )


def barrier_arrays(program: Program) -> tuple[BarrierArray, ...]:
    """Return all mbarriers by address; members of a group share theirs."""
    found: dict[int, BarrierArray] = {}
    for (name, copy), ring in program.pipelines.items():
        memory = program.memories[name]
        group = program.groups.get(memory.group or "")
        suffix = f"[{copy}]" if memory.copies > 1 else ""
        for side, offset, arrivals in (
            ("full", ring.full_offset, ring.full_arrivals),
            ("empty", ring.empty_offset, ring.empty_arrivals),
        ):
            if offset is None or offset in found:
                continue
            shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
            owner = group.name if shared and group is not None else name
            loaded = ring.tx_bytes if side == "full" else 0
            found[offset] = BarrierArray(f"{owner}{suffix}.{side}", offset, ring.stages, arrivals, loaded)
    if program.queue is not None and (answers := program.queue.answers) is not None:
        counts = {"full": answers.full_arrivals, "empty": answers.empty_arrivals}
        for side, offset in (("full", answers.full_offset), ("empty", answers.empty_offset)):
            name, loaded = f"{program.queue.name}.{side}", answers.tx_bytes if side == "full" else 0
            found[offset] = BarrierArray(name, offset, answers.stages, counts[side], loaded)
    for order in program.orders.values():
        if order.kind == "turn" and order.offset is not None:
            name = order.name + (f"[{order.copy}]" if order.copy else "")
            passing = [program.task(label) for label in order.participants]
            arrivals = max((1 if task.single else task.warps or 1 for task in passing), default=1)
            found[order.offset] = BarrierArray(name, order.offset, len(passing), arrivals, 0)
    return tuple(found[offset] for offset in sorted(found))
