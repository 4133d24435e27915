"""Leaves to the leader of a pair what both CTAs have to do.

What it does
    Looks for tasks of the leader alone that fill, by other means than products, a ring that the tensor cores
    of the pair read, or that read one that they fill.

Why is this bad
    The tensor cores of a pair read the operands in the shared memory of both CTAs and fill the tensor memory
    of both. The other CTA's half is never loaded, or never read, and everybody waits for it.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    load: {warps: 1, ctas: leader, schedule: [..., {tma_load: a, at: [tile.m * 128, k], to: ab.a}, ...]}

Use instead
    load: {warps: 1, schedule: [..., {tma_load: a, at: [tile.m * 128, k], to: ab.a}, ...]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.base import Engine
from tsc.program.model import Program, Task

RULE = Rule("TSC182", "half-of-a-pair", Severity.ERROR, "the leader alone fills or reads what a pair has")

CORE = Engine.TCGEN05.value


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task of the leader and ring of the pair."""
    if program.spec.launch.cta_group != 2:
        return
    products = {use.ring for use in program.uses if CORE in use.engine_reads | use.engine_writes}
    seen = set[tuple[str, str]]()
    for use in program.uses:
        task, own = program.task(use.task), use.engine_reads | use.engine_writes
        key = task.name, use.ring
        if task.ctas == "all" or use.ring not in products or not own - {CORE} or key in seen:
            continue
        seen.add(key)
        does = "fills" if use.engine_writes - {CORE} else "reads"
        yield Finding(
            RULE.name,
            f"`{task.name}` {does} `{use.ring}` in the leader alone, and both CTAs of a pair have their half "
            "of it",
            _place(program, task),
            (Place(program.memories[use.ring].route, "key", label="lies in both CTAs"),),
            help=_help(program, task),
        )


def _place(program: Program, task: Task) -> Place:
    written = program.spec.tasks[task.name].ctas is not None
    return Place((*task.route, "ctas")) if written else Place(task.route, "key")


def _help(program: Program, task: Task) -> str:
    if any(step.verb in ("tcgen05_mma", "tcgen05_cp") for step in task.steps()):
        return "do it in a task of its own: one that issues products runs in the leader"
    return "take `ctas: leader` away"
