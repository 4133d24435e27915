"""How many registers the threads of a task have while it runs, and could have: facts of a rule."""

from __future__ import annotations

from tsc.emit.roles import LEAST, STEP, register_pool, warpgroup_registers
from tsc.program.model import Program, Task


def registers_of(program: Program, task: Task) -> int:
    """Return the registers a thread of a task's first warpgroup, 0 where its warps have no place."""
    groups, first = warpgroup_registers(program), (task.first_warp or 0) // 4
    return 0 if task.first_warp is None or first >= len(groups) else groups[first]


def at_most(program: Program, task: Task) -> int:
    """Return what `registers` of a task can be while the warpgroups of others have theirs, or the least."""
    own = sum(it.warps or 0 for it in program.tasks if it.name == task.name) // 4
    other = [it for it in program.tasks if it.name != task.name and it.registers is not None]
    asked = sum((it.warps or 0) // 4 * (it.registers or 0) for it in other)
    silent = max(0, -(-(program.threads or 0) // 128) - own - sum((it.warps or 0) // 4 for it in other))
    left = register_pool(program) - 128 * (asked + silent * LEAST)
    return left // (128 * max(1, own)) // STEP * STEP
