"""Asks for a number of registers that setmaxnreg cannot set.

What it does
    Checks `registers` against 24 to 256 in steps of 8.

Why is this bad
    The instruction does not assemble.

Example
    math: {warps: 4, registers: 230, schedule: [task_sync]}

Use instead
    math: {warps: 4, registers: 232, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC205", "register-count-out-of-range", Severity.ERROR, "`registers` is no count that setmaxnreg can set"
)

LEAST, MOST = 24, 256  # PTX ISA, setmaxnreg


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each count that is not 24 to 256 in steps of 8."""
    for task in program.tasks:
        count = task.registers
        if count is not None and not settable(count):
            nearest = min(max(LEAST, round(count / 8) * 8), MOST)
            able = f"setmaxnreg sets {LEAST} to {MOST} in steps of 8"
            yield Finding(
                RULE.name,
                f"`{task.name}` asks for {count:,} registers, and {able}",
                Place((*task.route, "registers")),
                help=f"write `registers: {nearest}`",
            )


def settable(count: int) -> bool:
    """Whether setmaxnreg can set a count."""
    return count % 8 == 0 and LEAST <= count <= MOST
