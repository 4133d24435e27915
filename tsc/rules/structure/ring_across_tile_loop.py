"""Shares a ring between a task that loops over tiles and one that does not.

What it does
    Checks that the tasks that use one ring all have a `work_tile_loop`, or none of them.

Why is this bad
    A task without the loop runs once a CTA, whatever the number of tiles. It fills or empties the ring
    for one of them, and the other task waits for ever.

Example
    load:
      warps: 1
      schedule: [acquire: ring, {tma_load: x, to: ring}, commit: ring]       # once a CTA
    store:
      warps: 1
      schedule:
        - work_tile_loop: tiles
          body: [wait: ring, {tma_store: y, from: ring}, store_wait: 0, release: ring]

Use instead
    load:
      warps: 1
      schedule:
        - work_tile_loop: tiles
          body: [acquire: ring, {tma_load: x, to: ring}, commit: ring]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.tree import TileLoop, walk
from tsc.source.route import Route

RULE = Rule(
    "TSC130", "ring-across-tile-loop", Severity.ERROR, "a ring joins a task with tiles to one without"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task without a `work_tile_loop` that shares a ring with one that has it."""
    queue = program.queue.name if program.queue is not None else None
    looping = {
        task.label
        for task in program.tasks
        if any(isinstance(n, TileLoop) and n.queue == queue for n, _ in walk(task.tree))
    }
    for name, copy in program.pipelines:
        users = [use.task for use in program.uses if use.ring == name and use.copy == copy]
        other = next((label for label in users if label in looping), None)
        for label in users if other is not None else ():
            if label not in looping:
                task = program.task(label)
                yield Finding(
                    RULE.name,
                    f"`{task.name}` shares `{name}` with `{other}`, and has no `work_tile_loop` as that has",
                    Place(_first(program, task, name)),
                    (Place((*program.task(other or "").route, "schedule"), "key", label="loops over tiles"),),
                    help=f"put the steps of `{task.name}` into a `work_tile_loop`",
                )


def _first(program: Program, task: Task, ring: str) -> Route:
    for step in task.steps():
        reference = operand_of(step)
        if reference is not None and ring in program.meanings.group_members(reference.name):
            return (*step.route, step.verb)
    return (*task.route, "schedule")
