"""Which columns of tensor memory each warpgroup of a task moves, and when one moves what is another's."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tsc.ops.tcgen05_ld import Tcgen05Ld
from tsc.ops.tcgen05_st import Tcgen05St
from tsc.program.fragments import fragment_of
from tsc.program.model import Program, Task
from tsc.program.tree import Step

Ring = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Move:
    """One move from or to tensor memory: of which resource, `root` that on whose columns it lies, and the
    columns of each warpgroup from the first of all tensor memory on; none where they are not known.
    """

    root: Ring
    name: str
    staged: bool
    writes: bool
    columns: tuple[tuple[int, int], ...] | None

    def meets(self, other: Move) -> bool:
        """Whether a warpgroup may move what another one did before, and one of them writes it."""
        if self.root != other.root or not (self.writes or other.writes):
            return False
        if self.columns is None or other.columns is None:
            return True
        if self.name != other.name and (self.staged or other.staged):
            return True
        return any(
            one != two and begin < last and first < end
            for one, (begin, end) in enumerate(self.columns)
            for two, (first, last) in enumerate(other.columns)
        )


def move_of(program: Program, task: Task, step: Step, root: Ring) -> Move | None:
    """Return the move of a step; nothing where it has none."""
    if isinstance(step.model, Tcgen05Ld):
        registers, memory = step.model.tcgen05_ld, step.model.from_
    elif isinstance(step.model, Tcgen05St):
        registers, memory = step.model.from_, step.model.tcgen05_st
    else:
        return None
    meaning = program.meaning(memory, task, step.env, step.route)
    found = meaning.memory if meaning is not None else None
    if meaning is None or found is None:
        return None
    staged, writes = (found.stages or 1) > 1, isinstance(step.model, Tcgen05St)
    unknown = Move(root, found.name, staged, writes, None)
    fragment, buffer, at = fragment_of(program, task, registers.name), meaning.buffer, step.model.at
    if fragment is None or buffer is None or found.offset is None or len(buffer.shape) != 2:
        return unknown
    column = 0 if at is None else program.values.integer(at[-1], step.route, step.env)
    if column is None or prod(fragment.shape) > prod(buffer.shape):
        return unknown
    first = found.offset + meaning.copy * found.copy_bytes + buffer.offset
    groups = range(fragment.warpgroups)
    apart = fragment.columns if fragment.split == "columns" else 0
    begins = [column + group * apart for group in groups]
    ranges = (
        (first + b * buffer.bits // 32, first + (b + fragment.columns) * buffer.bits // 32) for b in begins
    )
    return Move(root, found.name, staged, writes, tuple(ranges))
