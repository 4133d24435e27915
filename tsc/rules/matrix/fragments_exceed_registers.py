"""Holds more of fragments at one step than a thread has registers.

What it does
    Adds up the registers of the fragments that a task needs at the same time, from the step that writes each
    to the last one that uses it, and compares with those of its warpgroup: `registers` of the task, or its
    share of those that the CTA starts with. At least 26 have to be left for all else. On Blackwell, where
    values go from fragment to fragment while they are moved, it compares what one instruction of a
    `tcgen05_ld` or `tcgen05_st` moves: up to 128 registers.

Why is this bad
    What does not fit moves to local memory, and matrix products are made to wait for each other; or the
    assembler leaves out the instructions that set the counts.

Example
    acc: {kind: registers, dtype: f32, shape: [128, 256]}     # 256 a thread in one warpgroup
    math: {warps: 4, registers: 240, ...}

Use instead
    acc: {kind: registers, dtype: f32, shape: [128, 192]}     # 192
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.emit.roles import MOST, STEP
from tsc.program.model import Program, Task
from tsc.rules.matrix.live import peak
from tsc.rules.matrix.products import once
from tsc.rules.matrix.registers_of import at_most, registers_of
from tsc.rules.matrix.tensor_moves import TensorMove, tensor_moves

RULE = Rule(
    "TSC230", "fragments-exceed-registers", Severity.ERROR, "fragments need more registers than a thread has"
)

SOUND = True
BESIDE = 26  # addresses, counters and descriptors: with 24 the assembler spills hundreds, or ignores counts
MOVED = 16  # the same beside a `tcgen05_ld`: with 8 the assembler spills a few, with none it gives up


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task whose fragments do not fit."""
    if program.target is not None and program.target.hopper:  # elsewhere they lie otherwise
        yield from once(it for task in program.tasks for it in _judge(program, task))
    if program.target is not None and program.target.blackwell:
        yield from once(it for move in tensor_moves(program) for it in _moved(program, move))


def _judge(program: Program, task: Task) -> Iterator[Finding]:
    most, has = peak(program, task), registers_of(program, task)
    if most is None or not has or most.words + BESIDE <= has:
        return
    parts = ", ".join(f"`{it.name}` {it.words}" for it in most.fragments)
    wanted = -(-(most.words + BESIDE) // STEP) * STEP
    asked = task.registers is not None
    if wanted <= min(MOST - STEP, at_most(program, task)):
        mend = f"write `registers: {wanted}` or more" + ("" if asked else " for it, and fewer elsewhere")
    else:
        largest = max(most.fragments, key=lambda it: it.words)
        mend = f"make `{largest.name}` smaller, or share it out among more warpgroups"
    yield Finding(
        RULE.name,
        f"`{task.name}` holds {most.words} registers of fragments a thread and has {has}: {parts}, and "
        f"{BESIDE} at least for all else",
        Place((*task.route, "registers")) if asked else Place(task.route, "key"),
        (Place(most.step.route, label="all of these are needed here"),),
        help=mend,
    )


def _moved(program: Program, move: TensorMove) -> Iterator[Finding]:
    """Judge the longest instruction of a move, all of whose registers are taken at once."""
    task, has, taken = move.task, registers_of(program, move.task), move.at_once(program)
    if not has or taken < has:
        return
    wanted = -(-(taken + MOVED) // STEP) * STEP
    asked = task.registers is not None
    if wanted <= at_most(program, task):
        mend = f"write `registers: {wanted}` or more" + ("" if asked else " for it, and fewer elsewhere")
    else:
        mend = f"move fewer columns of `{move.fragment.name}` at a time"
    yield Finding(
        RULE.name,
        f"`{move.step.verb}` moves {taken} registers of `{move.fragment.name}` a thread at once, and "
        f"`{task.name}` has {has}, of which all else needs {MOVED}",
        Place((*task.route, "registers")) if asked else Place(task.route, "key"),
        (Place(move.step.route, label="moved here"),),
        help=mend,
    )
