"""Shares a fragment out among threads that it does not come out even for.

What it does
    Checks that each task that uses a fragment has whole warpgroups of four warps, which begin at a multiple
    of four, and that each of them gets a multiple of 64 rows and of 8 columns.

Why is this bad
    A fragment lies in the registers of a warpgroup as the tensor core leaves it: 16 rows a warp, two
    neighbouring columns of eight a thread; in tensor memory 32 rows a warp.

Example
    acc: {kind: registers, dtype: f32, shape: [64, 256]}
    math: {warps: 8, ...}                                 # 32 rows for each of two warpgroups

Use instead
    acc: {kind: registers, dtype: f32, shape: [64, 256], split: columns}
    math: {warps: 8, ...}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.fragments import COLUMNS, ROWS
from tsc.program.model import Program, RegisterSet, Task
from tsc.rules.matrix.products import once, size

RULE = Rule(
    "TSC221", "fragment-does-not-spread", Severity.ERROR, "a fragment cannot be shared out among warpgroups"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task and fragment that do not fit together."""
    for registers in program.registers.values():
        if registers.shape is not None and len(registers.shape) != 2:
            message = f"a fragment has rows and columns, and `{registers.name}` is {size(registers.shape)}"
            yield Finding(RULE.name, message, Place((*registers.route, "shape")), help="give it two extents")
    yield from once(it for task in program.tasks for it in _of_task(program, task))


def _of_task(program: Program, task: Task) -> Iterator[Finding]:
    named = {touch.reference.name for step in task.steps() for touch in program.touches(step, task)}
    used = [registers for name, registers in program.registers.items() if name in named]
    fragments = [one for one in used if one.shape is not None and len(one.shape) == 2]
    warps, first = task.warps or 0, task.first_warp or 0
    if not fragments or warps < 1:
        return
    about = Place(fragments[0].route, "key", label="used there")
    if warps % 4:
        message = f"`{fragments[0].name}` lies in warpgroups of 4 warps, and `{task.name}` has {warps}"
        place, help = Place((*task.route, "warps")), f"write `warps: {-(-warps // 4) * 4}`"
        yield Finding(RULE.name, message, place, (about,), help=help)
    elif first % 4:
        message = f"`{fragments[0].name}` lies in warpgroups, and `{task.label}` begins at warp {first}"
        place, help = Place((*task.route, "first_warp")), f"write `first_warp: {-(-first // 4) * 4}`"
        yield Finding(RULE.name, message, place, (about,), help=help)
    else:
        yield from (it for one in fragments for it in _of_fragment(task, one, warps // 4))


def _of_fragment(task: Task, one: RegisterSet, groups: int) -> Iterator[Finding]:
    for axis, (word, grain) in enumerate((("rows", ROWS), ("columns", COLUMNS))):
        extent = (one.shape or ())[axis]
        among = groups if one.split == word else 1
        if extent and extent % (grain * among) == 0:
            continue
        each = f" for each of {among} warpgroups" if among > 1 else ""
        other, fine = ("columns", COLUMNS) if axis == 0 else ("rows", ROWS)
        turned = among > 1 and extent % grain == 0 and (one.shape or ())[1 - axis] % (fine * among) == 0
        wider = max(1, -(-extent // (grain * among))) * grain * among
        yield Finding(
            RULE.name,
            f"`{one.name}` has {extent:,} {word}, no multiple of {grain}{each}",
            Place((*one.route, "shape", axis)),
            (Place((*task.route, "warps"), label=f"{groups} warpgroups of 4 warps"),) if among > 1 else (),
            help=f"make it {wider:,} {word}" + (f", or write `split: {other}`" if turned else ""),
        )
