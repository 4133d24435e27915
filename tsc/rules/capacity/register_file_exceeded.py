"""Gives the warpgroups more registers than a multiprocessor has.

What it does
    Adds up `registers` times the threads, at least 24 a thread for tasks that say nothing and for
    padding, and compares with 65,536 shared by `ctas_per_sm` CTAs.

Why is this bad
    A setmaxnreg.inc waits for registers that nobody gives back, and the kernel hangs.

Example
    math: {warps: 12, registers: 240, schedule: [task_sync]}     # 92,160 registers

Use instead
    math: {warps: 8, registers: 240, schedule: [task_sync]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC207", "register-file-exceeded", Severity.ERROR, "a CTA asks for more registers than there are"
)

LEAST = 24  # PTX ISA, setmaxnreg


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the task that asks for most."""
    asking = [task for task in program.tasks if task.registers is not None and task.warps]
    if not asking or program.target is None or program.threads is None:
        return
    ctas = program.spec.launch.ctas_per_sm
    limit = program.target.registers // ctas
    # A warpgroup has one count, so the warps that say nothing beside one that does have its count too.
    counted = {
        g: t.registers or 0
        for t in asking
        for g in range((t.first_warp or 0) // 4, _end(t.first_warp, t.warps))
    }
    groups = -(-program.threads // 128)
    total = 128 * (sum(counted.values()) + LEAST * max(0, groups - len(counted)))
    if total <= limit:
        return
    most = max(asking, key=lambda task: (task.registers or 0) * task.threads)
    parts = ", ".join(f"{task.label} {task.warps} warps x {task.registers}" for task in asking)
    spare = limit - (
        total - 128 * sum(1 for g in counted if counted[g] == most.registers) * (most.registers or 0)
    )
    fits = spare // (128 * max(1, sum(1 for g in counted if counted[g] == most.registers))) // 8 * 8
    yield Finding(
        RULE.name,
        f"needs {total:,} of {limit:,} registers: {parts}, at least {LEAST} a thread elsewhere",
        Place((*most.route, "registers")),
        help=f"write `registers: {fits}` here"
        if fits >= LEAST
        else "give the tasks fewer registers or fewer warps",
    )


def _end(first: int | None, warps: int | None) -> int:
    return ((first or 0) + (warps or 0) + 3) // 4
