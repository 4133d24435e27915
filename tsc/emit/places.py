"""Places in memory as syncs and fences see them: buffers and tensors, who touches them, and what is a
thread's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tsc.expr import Expr, build, multiple_of
from tsc.expr.tree import Binary, Int, Ref
from tsc.ops.base import Engine
from tsc.program.accesses import Touch, touches
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.spans import meet, spans
from tsc.program.storage import BITS
from tsc.program.tree import Step

Place = tuple[str, int, str]  # a tensor or a memory resource, its copy and its buffer

ASYNC = frozenset((Engine.TMA, Engine.STORE, Engine.WGMMA, Engine.TCGEN05))
"""Engines that see memory through the asynchronous proxy."""


def places_of(program: Program, touch: Touch) -> tuple[Place, ...]:
    """Return what an access touches in memory: nothing for registers, several where it names no buffer."""
    operand = touch.operand
    if operand is None:
        return ()
    if operand.kind == "tensor":
        return ((operand.name, 0, ""),)
    memory = program.memories.get(operand.name)
    if memory is None:
        return ()
    buffer = memory.buffer(touch.reference.buffer)
    buffers = memory.buffers if buffer is None else (buffer,)
    return tuple((operand.name, operand.copy, one.name) for one in buffers)


def overlaps(program: Program) -> dict[Place, tuple[Place, ...]]:
    """Return the places that have bytes in common with others, by overlays, and those others.

    A ring counts as a whole: which stage is current is not known when built.
    """
    grounds = {memory.over.name for memory in program.memories.values() if memory.over is not None}
    placed = {
        (memory.name, copy, buffer.name): spans(memory, copy, buffer)
        for memory in program.memories.values()
        if memory.over is not None or memory.name in grounds
        for copy in range(memory.copies)
        for buffer in memory.buffers
    }
    found = {
        place: tuple(other for other in placed if other != place and meet(mine, placed[other]))
        for place, mine in placed.items()
        if program.memories[place[0]].kind == "smem"
    }
    return {place: others for place, others in found.items() if others}


class Sharing:
    """Which tasks touch the bytes of each place, and which of them through the asynchronous proxy."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.overlaps = overlaps(program)
        self._engines: dict[Place, set[str]] = {}
        self._readers: dict[Place, set[str]] = {}
        self._writers: dict[Place, set[str]] = {}
        self._fillers: dict[Place, set[str]] = {}  # tasks by whose threads, "" by whose loads, under its name
        # Rings of which a stage is taken by the word of another barrier.
        self.waited_by: set[str] = set()
        for task in program.tasks:
            for step in task.steps():
                reference = operand_of(step)
                if reference is not None and getattr(step.model, "by", None) is not None:
                    self.waited_by.update(program.meanings.group_members(reference.name))
                for touch in touches(step, program.meanings, program.works, task.name, task.replica):
                    for place in places_of(program, touch):
                        self._note(place, touch, task.label)

    def _note(self, place: Place, touch: Touch, label: str) -> None:
        if touch.writes:
            self._fillers.setdefault(place, set()).add("" if touch.engine is Engine.TMA else label)
        for each in (place, *self.others(place)):
            if touch.engine in ASYNC:
                self._engines.setdefault(each, set()).add(label)
            if touch.reads:
                self._readers.setdefault(each, set()).add(label)
            if touch.writes:
                self._writers.setdefault(each, set()).add(label)

    def others(self, place: Place) -> tuple[Place, ...]:
        """Return the places that share bytes with this one."""
        return self.overlaps.get(place, ())

    def filled_elsewhere(self, place: Place, label: str) -> bool:
        """Whether loads or another task fill a place under its own name."""
        return bool(self._fillers.get(place, set()) - {label})

    def loaded_over(self, place: Place) -> bool:
        """Whether loads fill bytes of a place under another name."""
        return any("" in self._fillers.get(other, ()) for other in self.others(place))

    def asynchronous(self, place: Place, label: str | None = None) -> bool:
        """Whether an engine touches a place, in a task or in any."""
        found = self._engines.get(place, set())
        return bool(found) if label is None else label in found

    def read_elsewhere(self, place: Place, label: str) -> bool:
        """Whether another task reads a place."""
        return bool(self._readers.get(place, set()) - {label})

    def written_elsewhere(self, place: Place, label: str) -> bool:
        """Whether another task writes to a place."""
        return bool(self._writers.get(place, set()) - {label})

    def written_by(self, place: Place, label: str) -> bool:
        """Whether a task writes to a place."""
        return label in self._writers.get(place, ())

    def places(self, names: Iterable[str], copy: int) -> tuple[Place, ...]:
        """Return the places of rings."""
        found = (self.program.memories[name] for name in names if name in self.program.memories)
        return tuple((memory.name, copy, one.name) for memory in found for one in memory.buffers)

    def plain(self, place: Place) -> bool:
        """Whether a place is shared memory without stages."""
        memory = self.program.memories.get(place[0])
        return memory is not None and not memory.ring

    def loose(self, place: Place) -> bool:
        """Whether no ring alone orders the tasks that touch the bytes of a place."""
        return self.plain(place) or self.tensor(place) or bool(self.others(place))

    def tensor(self, place: Place) -> bool:
        """Whether a place is global memory."""
        return place[0] in self.program.tensors


def own(program: Program, step: Step, touch: Touch, threads: int) -> str:
    """Return how a `load` or `store` spreads threads over a place, such that those that spread alike never
    meet another thread's values; empty where that is not plain to see.
    """
    at, operand = getattr(step.model, "at", None), touch.operand
    registers = next(_registers(program, step), None)
    if step.verb not in ("load", "store") or not at or operand is None or registers is None:
        return ""
    found = program.registers[registers]
    tensor, memory = program.tensors.get(operand.name), program.memories.get(operand.name)
    if tensor is not None:
        major, dtype = tensor.order[-1], tensor.dtype
    else:
        buffer = None if memory is None else memory.buffer(touch.reference.buffer)
        if buffer is None:
            return ""
        major, dtype = len(buffer.shape) - 1, buffer.dtype
    if found.per_thread is None or touch.reference.transposed or BITS[dtype] < 8:
        return ""
    for dim, expr in enumerate(at):
        factor = _spread(program.values.flat(expr, step.env), threads)
        if factor is not None and factor >= (found.per_thread if dim == major else 1):
            return f"{dim}:{factor}"
    return ""


def _registers(program: Program, step: Step) -> Iterator[str]:
    for field in ("load", "from_"):
        reference = getattr(step.model, field, None)
        if reference is not None and reference.name in program.registers:
            yield reference.name


def _spread(expr: Expr, threads: int) -> int | None:
    """Return `k` of `thread * k`, or of that after a multiple of what all threads cover."""
    tree = expr.tree
    if isinstance(tree, Binary) and tree.op == "+":
        base, factor = build(tree.left), _factor(build(tree.right))
        # Modulo what all threads cover, the base is nothing, even where it differs between them.
        return factor if factor is not None and multiple_of(base, {}) % (threads * factor) == 0 else None
    return _factor(expr)


def _factor(expr: Expr) -> int | None:
    match expr.tree:
        case Ref(name="thread"):
            return 1
        case Binary(op="*", left=Ref(name="thread"), right=Int(value=factor)) if factor > 0:
            return factor
    return None


def stores(program: Program, task: Task) -> bool:
    """Whether bulk or TMA stores of a task write to tensors."""
    return any(
        touch.engine is Engine.STORE and touch.writes
        for step in task.steps()
        for touch in program.touches(step, task)
    )


def loads_written(program: Program) -> bool:
    """Whether bulk or TMA copies read a tensor that the kernel writes."""
    written, loaded = set[str](), set[str]()
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                if touch.operand is not None and touch.operand.kind == "tensor":
                    written |= {touch.operand.name} if touch.writes else set()
                    loaded |= {touch.operand.name} if touch.reads and touch.engine is Engine.TMA else set()
    return bool(written & loaded)
