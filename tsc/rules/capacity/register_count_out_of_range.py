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


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each count that is not 24 to 256 in steps of 8."""
    for task in program.tasks:
        count = task.registers
        if count is not None and (count % 8 or not 24 <= count <= 256):
            nearest = min(max(24, round(count / 8) * 8), 256)
            yield Finding(
                RULE.name,
                f"`{task.label}` asks for {count} registers, and setmaxnreg sets 24 to 256 in steps of 8",
                Place((*task.route, "registers")),
                help=f"write `registers: {nearest}`",
            )
