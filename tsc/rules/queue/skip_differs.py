"""Skips tiles in one task and not, or by another condition, in one that shares a ring with it.

What it does
    Compares `skip_if` of the tasks that use one ring where some of them use it inside `skippable`.

Why is this bad
    For a tile that only one of them skips, the other waits for a stage that nobody fills, or fills one
    that nobody takes.

Example
    load:
      - {work_tile_loop: tiles, skip_if: lengths[tile.m] == 0, body: [skippable: [...]]}
    math:
      - {work_tile_loop: tiles, skip_if: lengths[tile.m] < 2, body: [skippable: [...]]}

Use instead
    math:
      - {work_tile_loop: tiles, skip_if: lengths[tile.m] == 0, body: [skippable: [...]]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import equal
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.tree import Guard, Step, TileLoop, walk
from tsc.rules.queue.steps import tile_loops

RULE = Rule("TSC329", "skip-differs", Severity.ERROR, "tasks that share a ring skip different tiles")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task whose `skip_if` is not that of the first one that skips a ring."""
    loops = {task.label: (task, loop) for task, loop in tile_loops(program)}
    for name, copy in program.pipelines:
        users = {use.task for use in program.uses if use.ring == name and use.copy == copy}
        known = [loops[label] for label in loops if label in users]
        first = next((it for it in known if it[1].skip_if is not None and _skips(program, *it, name)), None)
        for task, loop in known if first is not None else ():
            if first is None or _same(program, first[1], loop):
                continue
            own = f"by `{loop.skip_if.text}`" if loop.skip_if is not None else "no tiles"
            condition = first[1].skip_if.text if first[1].skip_if is not None else ""
            yield Finding(
                RULE.name,
                f"`{first[0].name}` skips tiles by `{condition}`, "
                f"and `{task.name}`, which shares `{name}`, skips {own}",
                Place((*loop.route, "skip_if" if loop.skip_if is not None else "work_tile_loop")),
                (Place((*first[1].route, "skip_if"), label="another condition"),),
                help=f"write `skip_if: {condition}`",
            )


def _same(program: Program, one: TileLoop, two: TileLoop) -> bool:
    if one.skip_if is None or two.skip_if is None:
        return one.skip_if is two.skip_if
    return equal(program.flat(one.skip_if, one.env), program.flat(two.skip_if, two.env))


def _skips(program: Program, task: Task, loop: TileLoop, ring: str) -> bool:
    for node, above in walk(loop.body):
        if isinstance(node, Step) and any(isinstance(n, Guard) and n.kind == "skippable" for n in above):
            reference = operand_of(node)
            named = program.meanings.group_members(reference.name) if reference is not None else ()
            if ring in named or any(touch.reference.name == ring for touch in program.touches(node, task)):
                return True
    return False
