"""The steps that move fragments from and to tensor memory, each with both of its sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.diagnostics.model import Place
from tsc.expr import Expr
from tsc.model import Reference
from tsc.ops.tcgen05_ld import Tcgen05Ld
from tsc.ops.tcgen05_st import Tcgen05St
from tsc.ops.tensor_moves import longest
from tsc.program.fragments import fragment_of
from tsc.program.model import Buffer, Program, RegisterSet, Task
from tsc.program.tree import Step
from tsc.rules.matrix.products import size


@dataclass(frozen=True, slots=True)
class TensorMove:
    """One step, between a fragment of two dimensions and a buffer in tensor memory."""

    task: Task
    step: Step
    fragment: RegisterSet
    buffer: Buffer
    named: Reference  # the buffer, as written
    key: str  # where
    at: tuple[Expr, ...] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the fragment."""
        return self.fragment.shape or ()

    @property
    def groups(self) -> int:
        """Among how many warpgroups the fragment's rows are shared out."""
        return (self.task.warps or 0) // 4 if self.fragment.split == "rows" else 1

    def at_once(self, program: Program) -> int:
        """Return how many registers of a thread its longest instruction moves."""
        found = fragment_of(program, self.task, self.fragment.name)
        if found is None or not found.columns:
            return 0
        return longest(found.words * min(found.columns, self.buffer.shape[-1]) // found.columns)

    @property
    def place(self) -> Place:
        """Where the step names the buffer."""
        return Place((*self.step.route, self.key))

    @property
    def declared(self) -> tuple[Place, Place]:
        """Where buffer and fragment are declared."""
        return (
            Place(self.buffer.route, "key", label=f"{size(self.buffer.shape)} {self.buffer.dtype}"),
            Place(self.fragment.route, "key", label=f"{size(self.shape)} {self.fragment.dtype}"),
        )


def tensor_moves(program: Program) -> Iterator[TensorMove]:
    """Yield the moves whose operands are there and of the right kinds."""
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, Tcgen05Ld):
                names, memory, key = step.model.tcgen05_ld, step.model.from_, "from"
            elif isinstance(step.model, Tcgen05St):
                names, memory, key = step.model.from_, step.model.tcgen05_st, "tcgen05_st"
            else:
                continue
            fragment = program.registers.get(names.name)
            meaning = program.meaning(memory, task, step.env, step.route)
            buffer = meaning.buffer if meaning is not None and meaning.kind == "tmem" else None
            if fragment is not None and len(fragment.shape or ()) == 2 and buffer is not None:
                yield TensorMove(task, step, fragment, buffer, memory, key, step.model.at)
