"""The wgmma steps of a program with both operands as the instruction sees them: facts of several rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tsc.diagnostics.model import Finding, Place
from tsc.model import Reference
from tsc.ops.wgmma import Wgmma
from tsc.program.fragments import Fragment, spread
from tsc.program.model import Buffer, Program, RegisterSet, Task
from tsc.program.storage import BITS
from tsc.program.tree import Step
from tsc.rules.memo import per_program
from tsc.source.route import Route

DEPTH = 32  # bytes of k that an instruction multiplies


@dataclass(frozen=True, slots=True)
class Side:
    """Operand `a` or `b`: rows by k, in shared memory, in registers or (`held`) in tensor memory."""

    key: str
    text: str  # as written
    route: Route
    dtype: str
    shape: tuple[int, ...]  # as laid out
    transposed: bool
    buffer: Buffer | None
    registers: RegisterSet | None
    held: Buffer | None = None

    @property
    def rows(self) -> int:
        """Its m or n."""
        return self.shape[1 if self.transposed else 0]

    @property
    def depth(self) -> int:
        """Its k."""
        return self.shape[0 if self.transposed else 1]

    @property
    def place(self) -> Place:
        """Where it is declared."""
        owner = self.buffer or self.registers or self.held
        route = owner.route if owner is not None else ()
        return Place(route, "key", label=f"{size(self.shape)} {self.dtype}")

    @property
    def bits(self) -> int:
        """Of an element."""
        return BITS[self.dtype]


@dataclass(frozen=True, slots=True)
class Product:
    """One step; an operand that is not there, or is of another kind, has been reported."""

    task: Task
    step: Step
    to: RegisterSet
    a: Side | None
    b: Side | None

    @property
    def fragment(self) -> Fragment | None:
        """The accumulator, as the warpgroups share it out."""
        return spread(self.to, self.task)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Both operands, as far as they are there."""
        return tuple(side for side in (self.a, self.b) if side is not None)


def size(shape: tuple[int, ...]) -> str:
    """Write extents as `128 x 64`."""
    return " x ".join(f"{extent:,}" for extent in shape) or "one value"


@per_program
def products(program: Program) -> tuple[Product, ...]:
    """Return the matrix products of all tasks."""
    found = []
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, Wgmma) and step.model.wgmma.name in program.registers:
                to = program.registers[step.model.wgmma.name]
                a, b = (_side(program, task, step, key) for key in ("a", "b"))
                found.append(Product(task, step, to, a, b))
    return tuple(found)


def _side(program: Program, task: Task, step: Step, key: str) -> Side | None:
    reference: Reference = getattr(step.model, key)
    route = (*step.route, key)
    meaning = program.meaning(reference, task, step.env, route)
    buffer = meaning.buffer if meaning is not None and meaning.kind == "smem" else None
    registers = program.registers.get(reference.name)
    owner = buffer or registers
    if owner is None or owner.shape is None:
        return None
    return Side(key, reference.text, route, owner.dtype, owner.shape, reference.transposed, buffer, registers)


def once(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield each finding once, although replicas and copies of a step have it again."""
    seen = set()
    for finding in found:
        if (key := (finding.place, finding.message)) not in seen:
            seen.add(key)
            yield finding


def once_a_place(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the first finding at each place: the copies of a `repeat` are mended together."""
    told = set()
    for finding in found:
        if finding.place not in told:
            told.add(finding.place)
            yield finding
