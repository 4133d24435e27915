"""The stmatrix and ldmatrix steps of a program, each with its fragment and its buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.diagnostics.model import Place
from tsc.expr import Expr
from tsc.model import Reference
from tsc.program.fragments import COLUMNS, ROWS
from tsc.program.model import Buffer, Program, RegisterSet, Task
from tsc.program.tree import Step
from tsc.rules.matrix.products import size

GRAIN = (ROWS, COLUMNS)
"""Rows that a warpgroup has at the same time, and columns of a block."""
WORDS = ("row", "column")


@dataclass(frozen=True, slots=True)
class MatrixCopy:
    """One step, between a fragment of two dimensions and a buffer; each is the larger along some of them."""

    task: Task
    step: Step
    fragment: RegisterSet
    buffer: Buffer
    named: Reference  # the buffer, as written

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the fragment."""
        return self.fragment.shape or ()

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the buffer, as the fragment's rows and columns see it."""
        return self.buffer.shape[::-1] if self.named.transposed else self.buffer.shape

    @property
    def at(self) -> tuple[Expr, ...] | None:
        """Where the smaller begins in the larger."""
        at: tuple[Expr, ...] | None = getattr(self.step.model, "at", None)
        return at

    @property
    def place(self) -> Place:
        """Where the step names the buffer."""
        return Place((*self.step.route, "stmatrix" if self.step.verb == "stmatrix" else "from"))

    @property
    def declared(self) -> tuple[Place, Place]:
        """Where buffer and fragment are declared."""
        buffer, fragment = self.buffer, self.fragment
        return (
            Place(buffer.route, "key", label=f"{size(buffer.shape)} {buffer.dtype}"),
            Place(fragment.route, "key", label=f"{size(self.shape)} {fragment.dtype}"),
        )


def matrix_copies(program: Program) -> Iterator[MatrixCopy]:
    """Yield the copies whose operands are there and of the right kinds."""
    for task in program.tasks:
        for step in task.steps():
            if step.verb not in ("stmatrix", "ldmatrix"):
                continue
            first, second = getattr(step.model, step.verb), getattr(step.model, "from_", None)
            memory, names = (first, second) if step.verb == "stmatrix" else (second, first)
            if memory is None or names is None:
                continue
            fragment = program.registers.get(names.name)
            meaning = program.meaning(memory, task, step.env, step.route)
            buffer = meaning.buffer if meaning is not None else None
            if fragment is not None and len(fragment.shape or ()) == 2 and buffer is not None:
                yield MatrixCopy(task, step, fragment, buffer, memory)
