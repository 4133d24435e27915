"""Ranges of values: of types, and of the names at the top of a task's function."""

from __future__ import annotations

from collections.abc import Mapping

from tsc.emit.kernel import Kernel
from tsc.expr import Interval
from tsc.program.model import Task

WIDTHS = {
    "bool": Interval(0, 1),
    "i8": Interval(-128, 127),
    "u8": Interval(0, 255),
    "i32": Interval(-(2**31), 2**31 - 1),
    "u32": Interval(0, 2**32 - 1),
    "i64": Interval(-(2**63), 2**63 - 1),
}


def launch_ranges(kernel: Kernel, task: Task) -> Mapping[str, Interval]:
    """Return the ranges of names at the top of a task's function."""
    program = kernel.program
    found = dict(program.ranges)
    last = max(0, task.threads - 1)
    found.update(thread=Interval(0, last), warp=Interval(0, last // 32), lane=Interval(0, 31))
    for name, registers in program.registers.items():
        if registers.dtype in WIDTHS:
            found[name] = WIDTHS[registers.dtype]
    return found
