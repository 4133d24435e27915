"""Fragments: tiles of values that the warpgroups of a task share out, in one of two layouts.

Which one it is follows from what touches the fragment in the task: `wgmma`, `stmatrix` and `ldmatrix` work on
matrices, `tcgen05_ld` and `tcgen05_st` on rows in lanes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tsc.ops.convert import Convert
from tsc.program.model import Program, RegisterSet, Task
from tsc.program.storage import BITS
from tsc.program.tree import Step

# Matrix: PTX ISA, wgmma m64nNkK, "register fragment D". Thread `32 w + l` of a warpgroup has, in each block
# of 64 rows and each group of 8 columns, the rows `16 w + l / 4` and that plus 8, in each of them the columns
# `2 (l % 4)` and the next one. Every dtype has this layout; for 16-bit types it is that of operand A, too.
# Lanes: PTX ISA, tcgen05.ld .32x32b. Thread `t` of a warpgroup has row `t` of 128, its columns in order.
# An accumulator of 64 rows lies in tensor memory so that the instructions for 16 lanes bring it as a matrix:
# rows `16 w ..` in the lanes `32 w ..` (PTX ISA, tcgen05, data path layout F, and .16x256b).
Layout = Literal["matrix", "lanes"]

LANES = 128  # of tensor memory: 32 a warp
ROWS = 64  # of a wgmma instruction: 16 a warp
COLUMNS = 8  # of a group that one thread has two neighbours of
WARPGROUP = 128  # threads


@dataclass(frozen=True, slots=True)
class Fragment:
    """A register resource with `shape`, in one task. `rows` and `columns` are one warpgroup's share."""

    name: str
    dtype: str
    shape: tuple[int, int]
    split: str
    warpgroups: int
    rows: int
    columns: int
    layout: Layout = "matrix"

    @property
    def lanes(self) -> bool:
        """Whether each thread has a row of its own."""
        return self.layout == "lanes"

    @property
    def values(self) -> int:
        """Values of a thread."""
        return self.rows * self.columns // WARPGROUP

    @property
    def words(self) -> int:
        """32-bit registers of a thread."""
        return -(-self.values * max(8, BITS[self.dtype]) // 32)

    @property
    def blocks(self) -> int:
        """Blocks of 64 rows a warpgroup."""
        return self.rows // ROWS

    @property
    def slots(self) -> int:
        """Rows of which a thread has a part: what `rows_of` keeps a value for."""
        return 1 if self.lanes else 2 * self.blocks


@dataclass(frozen=True, slots=True)
class Said:
    """One step that says how a fragment lies."""

    step: Step
    layout: Layout


def said(program: Program, task: Task) -> Iterator[tuple[str, Said]]:
    """Yield the fragments of a task with the steps that say how they lie."""
    for step in task.steps():
        if step.verb not in ("wgmma", "stmatrix", "ldmatrix", "tcgen05_ld", "tcgen05_st"):
            continue
        touched = tuple(program.touches(step, task))
        layout: Layout = "matrix"
        if step.verb.startswith("tcgen05"):
            shapes = [
                meaning.buffer.shape
                for touch in touched
                if (meaning := program.meaning(touch.reference, task, step.env, touch.route)) is not None
                and meaning.kind == "tmem"
                and meaning.buffer is not None
            ]
            layout = "matrix" if any(shape and shape[0] == ROWS for shape in shapes) else "lanes"
        for touch in touched:
            registers = program.registers.get(touch.reference.name)
            if registers is not None and registers.shape is not None:
                yield registers.name, Said(step, layout)


def layouts(program: Program, task: Task) -> Mapping[str, Layout]:
    """Return how fragments of a task lie where a step says so, and as what they are converted from or to."""
    found: dict[str, Layout] = {}
    for name, saying in said(program, task):
        found.setdefault(name, saying.layout)
    if "lanes" not in found.values():
        return found
    pairs = [
        (step.model.convert.name, step.model.from_.name)
        for step in task.steps()
        if isinstance(step.model, Convert)
    ]
    for _ in pairs:  # one tells the next
        for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
            registers = program.registers.get(one)
            if other in found and registers is not None and registers.shape is not None:
                found.setdefault(one, found[other])
    return found


def spread(registers: RegisterSet, task: Task, layout: Layout = "matrix") -> Fragment | None:
    """Share a fragment out among the warpgroups of a task; nothing where that cannot be."""
    shape, warps = registers.shape, task.warps or 0
    if shape is None or len(shape) != 2 or task.single or warps % 4 or not warps:
        return None
    groups = warps // 4
    by = (groups, 1) if registers.split == "rows" else (1, groups)
    rows, columns = shape[0] // by[0], shape[1] // by[1]
    if shape[0] % by[0] or shape[1] % by[1] or rows % ROWS or columns % COLUMNS or not rows * columns:
        return None
    if layout == "lanes" and rows != LANES:
        return None
    tile = (shape[0], shape[1])
    return Fragment(registers.name, registers.dtype, tile, registers.split, groups, rows, columns, layout)


def fragment_of(program: Program, task: Task, name: str) -> Fragment | None:
    """Return the fragment of a name in a task; nothing where it is none or cannot be shared out."""
    registers = program.registers.get(name)
    if registers is None:
        return None
    return spread(registers, task, layouts(program, task).get(name, "matrix"))


def rows_held(fragment: Fragment) -> int:
    """Return how many values a thread keeps of a `rows_of` this fragment."""
    return fragment.slots
