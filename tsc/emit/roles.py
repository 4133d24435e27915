"""Which warps run which task: one chain of conditions on the warp's index, and the registers of each
warpgroup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tsc.emit.plan import Comment, Compound, Item, Statement
from tsc.program.model import Program, Task

REGISTERS = 65_536  # of a multiprocessor
LEADS = "(cluster_rank() & 1) == 0"  # whether a CTA leads its pair
STEP = 8  # setmaxnreg counts in eights, from 24 to 256
LEAST, MOST = 24, 256


@dataclass(frozen=True, slots=True)
class Range:
    """Warps of one task."""

    begin: int
    end: int
    task: Task


def roles(program: Program, calls: Mapping[str, str]) -> tuple[Item, ...]:
    """Return the branches of the kernel; `calls` has the call of each task instance by its label."""
    total = (program.threads or 0) // 32
    ranges = sorted(
        (
            Range(task.first_warp or 0, (task.first_warp or 0) + (task.warps or 0), task)
            for task in program.tasks
        ),
        key=lambda one: one.begin,
    )
    if all(task.registers is None for task in program.tasks):
        return _chain(ranges, 0, total, calls)
    groups = _register_groups(program, ranges, total)
    launched = launch_registers(program)
    # setmaxnreg speaks to a whole warpgroup, so it stands before its warps part.
    bodies: list[tuple[int, int, tuple[Item, ...]]] = []
    for begin, end, count in groups:
        inner = [one for one in ranges if begin <= one.begin < end]
        change = "grow" if count > launched else "shrink"
        setting: tuple[Item, ...] = (
            () if count == launched else (Statement("registers", {"change": change, "count": count}),)
        )
        bodies.append((begin, end, (*setting, *_chain(inner, begin, end, calls))))
    return _branches([(begin, end, body, "") for begin, end, body in bodies], 0, total)


def launch_registers(program: Program) -> int:
    """Return the registers that a thread has when the kernel starts."""
    budget = REGISTERS // program.spec.launch.ctas_per_sm
    # At most 255 can be named, and what is set aside for them is 256.
    return min(MOST, budget // (program.threads or 32) // STEP * STEP)


def register_pool(program: Program) -> int:
    """Return the registers of a CTA: those that it starts with, for setmaxnreg moves them and adds none."""
    return launch_registers(program) * (program.threads or 0)


def warpgroup_registers(program: Program) -> tuple[int, ...]:
    """Return the registers a thread of each warpgroup while its tasks run, by the number of the warpgroup."""
    total = -(-(program.threads or 0) // 128)
    if all(task.registers is None for task in program.tasks):
        return (min(MOST - STEP, launch_registers(program)),) * total
    ranges = [
        Range(task.first_warp, task.first_warp + (task.warps or 0), task)
        for task in program.tasks
        if task.first_warp is not None
    ]
    runs = _register_groups(program, ranges, 4 * total)
    return tuple(count for begin, end, count in runs for _ in range(begin, end, 4))


def _register_groups(program: Program, ranges: Sequence[Range], total: int) -> list[tuple[int, int, int]]:
    """Return runs of warpgroups with their registers a thread; what is not asked for shares what is left."""
    asked: list[int | None] = []
    for group in range(-(-total // 4)):
        counts = [
            r.task.registers
            for r in ranges
            if r.begin < 4 * group + 4 and 4 * group < r.end and r.task.registers
        ]
        asked.append(max(counts) if counts else None)
    left = register_pool(program) - 128 * sum(count for count in asked if count is not None)
    open_groups = sum(count is None for count in asked)
    share = max(LEAST, min(MOST - STEP, left // (128 * open_groups) // STEP * STEP)) if open_groups else LEAST
    runs: list[tuple[int, int, int]] = []
    for group, count in enumerate(asked):
        registers = share if count is None else count
        spans = any(r.begin < 4 * group < r.end for r in ranges)
        if runs and (runs[-1][2] == registers or spans):
            runs[-1] = (runs[-1][0], 4 * group + 4, registers)
        else:
            runs.append((4 * group, 4 * group + 4, registers))
    return runs


def _chain(ranges: Sequence[Range], begin: int, end: int, calls: Mapping[str, str]) -> tuple[Item, ...]:
    branches = []
    for one in ranges:
        task = one.task
        what = "one thread" if task.single else f"{task.threads} threads"
        call: Item = Statement("line", {"text": f"{calls[task.label]};"})
        if task.single:
            call = Compound("if", {"condition": "elect_one()"}, (call,))
        if task.ctas == "leader":
            what += " of the leading CTA of each pair"
            call = Compound("if", {"condition": LEADS}, (call,))
        body: tuple[Item, ...] = (Comment(f"{task.label}: {what}"), call)
        # One thread of several warps: the others have nothing to do.
        last = one.begin + 1 if task.single else one.end
        branches.append((one.begin, last if last < one.end else one.end, body, ""))
    return _branches(branches, begin, end)


def _branches(
    branches: Sequence[tuple[int, int, tuple[Item, ...], str]], begin: int, end: int
) -> tuple[Item, ...]:
    """Chain blocks by ranges of warps; `begin` and `end` are the warps that come here at all."""
    if not branches:
        return ()
    (first, last, body, _), rest = branches[0], branches[1:]
    if first == begin and last == end:
        return body
    if last - first == 1:
        condition = f"warp == {first}"
    elif first == begin:
        condition = f"warp < {last}"
    elif last == end:
        condition = f"warp >= {first}"
    else:
        condition = f"warp >= {first} && warp < {last}"
    # Behind this branch come the warps after it, and those before it that nobody has.
    following = _branches(rest, last if first == begin else begin, end)
    return (Compound("if", {"condition": condition}, body, following),)


def asks_warp(items: Sequence[Item]) -> bool:
    """Whether any condition looks at the warp's index."""
    return any(
        isinstance(item, Compound)
        and ("warp" in str(item.fields.get("condition", "")) or asks_warp((*item.body, *item.otherwise)))
        for item in items
    )
