"""Gives the warpgroups more registers than their CTA has.

What it does
    Adds up `registers` times the threads, at least 24 a thread for tasks that say nothing and for
    padding, and compares with what the CTA starts with: the same for each thread, a multiple of 8, of
    65,536 shared by `ctas_per_sm` CTAs.

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
from tsc.emit.roles import register_pool
from tsc.program.model import Program
from tsc.rules.capacity.register_count_out_of_range import LEAST, settable
from tsc.rules.capacity.registers_differ_in_warpgroup import warpgroups

RULE = Rule(
    "TSC207", "register-file-exceeded", Severity.ERROR, "a CTA asks for more registers than there are"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the task that asks for most."""
    target, asking = program.target, [task for task in program.tasks if task.registers is not None]
    if not asking or target is None or program.threads is None or program.threads > 32 * target.warps:
        return
    if any(task.registers is None or not settable(task.registers) for task in asking):
        return
    limit = register_pool(program)
    # A warpgroup has one count, so the warps that say nothing beside one that does have its count too.
    groups = warpgroups(program)
    owners = {g: task for g, tasks in groups.items() for task in tasks if task.registers is not None}
    free = max(0, -(-program.threads // 128) - len(owners))
    total = 128 * (sum(task.registers or 0 for task in owners.values()) + LEAST * free)
    if total <= limit:
        return
    most = max(asking, key=lambda task: (task.registers or 0) * task.threads)
    mine = sum(task.name == most.name for task in owners.values())
    fits = (limit - total + 128 * mine * (most.registers or 0)) // (128 * max(1, mine)) // 8 * 8
    counts = {(task.name, task.registers): 0 for task in asking}
    for task in asking:
        counts[task.name, task.registers] += task.warps or 0
    parts = ", ".join(f"{name} {warps} warps x 32 x {count}" for (name, count), warps in counts.items())
    ctas = program.spec.launch.ctas_per_sm
    each = f" for each of {ctas} CTAs" if ctas > 1 else ""
    yield Finding(
        RULE.name,
        f"needs {total:,} of {limit:,} registers{each}: {parts}"
        + (f", {LEAST} a thread in {32 * 4 * free} more threads" if free else ""),
        Place((*most.route, "registers")),
        help=f"write `registers: {fits}` here"
        if fits >= LEAST
        else "give the tasks fewer registers or fewer warps",
    )
