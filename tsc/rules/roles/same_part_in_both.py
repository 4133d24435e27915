"""Loads the same part of an operand into both CTAs of a pair.

What it does
    Looks at the coordinates of loads whose buffer is an operand of a pair's `tcgen05_mma`: whether any
    depends on where the CTA stands along the axis of the pair.

Why is this bad
    Each CTA of a pair has its own rows of `a` and its own half of `b`. With the same coordinates, or one box
    for both by `multicast`, half of the product is made twice and the other half is missing.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab.b}

Use instead
    - {tma_load: b, at: [tile.n * BN + cluster.m % 2 * (BN // 2), loop * BK], to: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.base import Engine
from tsc.program.model import Program, Task
from tsc.program.tree import Step

RULE = Rule("TSC183", "same-part-in-both", Severity.ERROR, "both CTAs of a pair load one part of an operand")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each load of an operand that is the same in both CTAs."""
    if program.spec.launch.cta_group != 2 or not program.cluster:
        return
    axis, parts = program.cluster[0][0], _operands(program)
    for task in program.tasks:
        made = {name for step in task.steps() for name in getattr(step.model, "out", None) or ()}
        for step in task.steps():
            side = next((parts[key] for key in _filled(program, step, task) if key in parts), None)
            at = [program.flat(expr, step.env) for expr in getattr(step.model, "at", None) or ()]
            names = frozenset[str]().union(*(expr.free for expr in at))
            # A value that the task makes, or reads from memory, may differ.
            if side is None or names & (made | program.registers.keys()) or any(expr.indexed for expr in at):
                continue
            if not names & {f"tile.{axis}", f"cluster.{axis}", f"block.{axis}"}:
                half = "its half of the columns" if side == "b" else "rows of its own"
                yield Finding(
                    RULE.name,
                    f"both CTAs of a pair load the same, and each has {half} in the product",
                    Place((*step.route, "at")),
                    help=f"let a coordinate depend on `cluster.{axis} % 2`",
                )


def _operands(program: Program) -> dict[tuple[str, int, str], str]:
    """Return which side of a product each buffer is."""
    found = {}
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task) if step.verb == "tcgen05_mma" else ():
                side = next((key for key in ("a", "b") if getattr(step.model, key) == touch.reference), None)
                if side is not None and touch.operand is not None:
                    found[touch.operand.name, touch.operand.copy, touch.reference.buffer or ""] = side
    return found


def _filled(program: Program, step: Step, task: Task) -> Iterator[tuple[str, int, str]]:
    for touch in program.touches(step, task):
        if touch.engine is Engine.TMA and touch.writes and touch.operand is not None:
            yield touch.operand.name, touch.operand.copy, touch.reference.buffer or ""
