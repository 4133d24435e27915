"""Reads, behind `count_in`, what others may still be writing.

What it does
    Looks for reads of a workspace that the task itself writes, too, behind a `count_in` and not under a
    condition that holds only where its `last` does.

Why is this bad
    Whoever is not the last one finds parts that others have not written yet.

Example
    - {count_in: arrived, at: [tile.m], of: SPLITS, last: last}
    - when: last or tile.split == 0
      then: [{do: add_partials}]

Use instead
    - {count_in: arrived, at: [tile.m], of: SPLITS, last: last}
    - when: last
      then: [{do: add_partials}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import parse, provably, substitute
from tsc.ops.count_in import CountIn
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Step, blocks

RULE = Rule(
    "TSC537", "unfinished-read", Severity.ERROR, "what others write is read before all have counted in"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read behind a `count_in` where it is not the last one's."""
    for task in program.tasks:
        touches = [touch for step in task.steps() for touch in program.touches(step, task) if touch.writes]
        written = {touch.reference.name for touch in touches}
        shared = {name for name in written if name in program.tensors and program.tensors[name].workspace}
        yield from _block(program, task, task.tree, shared)


def _block(program: Program, task: Task, block: Block, shared: set[str]) -> Iterator[Finding]:
    for i, node in enumerate(block):
        if isinstance(node, Step) and isinstance(node.model, CountIn):
            yield from _behind(program, task, node, node.model, block[i + 1 :], shared)
            return
        for inner in blocks(node):
            yield from _block(program, task, inner, shared)


def _behind(
    program: Program, task: Task, count: Step, model: CountIn, rest: Block, shared: set[str]
) -> Iterator[Finding]:
    for node in rest:
        if isinstance(node, Guard) and node.condition is not None:
            never = {model.last.name: parse(False)}
            held = provably(substitute(program.flat(node.condition, node.env), never), program.ranges)
            sides = (node.then if held is not False else (), node.otherwise if held is not True else ())
            for side in sides:
                yield from _behind(program, task, count, model, side, shared)
        elif isinstance(node, Step):
            for touch in program.touches(node, task) if node.verb != "count_in" else ():
                if touch.reads and touch.reference.name in shared:
                    yield Finding(
                        RULE.name,
                        f"`{touch.reference.name}` is read here by others than the last one at "
                        f"`count_in: {model.count_in}`, and parts of it may not be written yet",
                        Place(node.route if node.verb == "do" else touch.route),
                        (Place((*count.route, "last"), label="says who is the last one"),),
                        help=f"put it under `when: {model.last}`",
                    )
        else:
            for inner in blocks(node):
                yield from _behind(program, task, count, model, inner, shared)
