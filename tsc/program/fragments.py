"""Fragments: tiles of values that the warpgroups of a task share out, as `wgmma` lays out accumulators.

Layout: PTX ISA, wgmma m64nNkK, "register fragment D". Thread `32 w + l` of a warpgroup has, in each block of
64 rows and each group of 8 columns, the rows `16 w + l / 4` and that plus 8, in each of them the columns
`2 (l % 4)` and the next one. Every dtype has this one layout; for 16-bit types it is that of operand A, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from tsc.program.model import Program, RegisterSet, Task
from tsc.program.storage import BITS

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
        return 2 * self.blocks


def spread(registers: RegisterSet, task: Task) -> Fragment | None:
    """Share a fragment out among the warpgroups of a task; nothing where that cannot be."""
    shape, warps = registers.shape, task.warps or 0
    if shape is None or len(shape) != 2 or task.single or warps % 4 or not warps:
        return None
    groups = warps // 4
    by = (groups, 1) if registers.split == "rows" else (1, groups)
    rows, columns = shape[0] // by[0], shape[1] // by[1]
    if shape[0] % by[0] or shape[1] % by[1] or rows % ROWS or columns % COLUMNS or not rows * columns:
        return None
    tile = (shape[0], shape[1])
    return Fragment(registers.name, registers.dtype, tile, registers.split, groups, rows, columns)


def fragment_of(program: Program, task: Task, name: str) -> Fragment | None:
    """Return the fragment of a name in a task; nothing where it is none or cannot be shared out."""
    registers = program.registers.get(name)
    return None if registers is None else spread(registers, task)


def rows_held(fragment: Fragment) -> int:
    """Return how many values a thread keeps of a `rows_of` this fragment."""
    return fragment.slots
