"""Writes what the last one reads after it has counted in.

What it does
    Looks for tensors that are read where `last` of a `count_in` holds, and for steps of the same task that
    write to them behind that `count_in`.

Why is this bad
    The last one finds what was written before the others counted; what comes later it may miss.

Example
    - {count_in: arrived, at: [tile.m], of: SPLITS, last: last}
    - {store: partial, from: acc, at: [tile.split, tile.m * 64]}
    - when: last
      then: [{do: add_partials}]

Use instead
    - {store: partial, from: acc, at: [tile.split, tile.m * 64]}
    - {count_in: arrived, at: [tile.m], of: SPLITS, last: last}
    - when: last
      then: [{do: add_partials}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.count_in import CountIn
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Node, Step, blocks, walk

RULE = Rule("TSC169", "write-after-count", Severity.ERROR, "what the last one reads is written too late")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each write behind a `count_in` of what is read where its `last` holds."""
    for task in program.tasks:
        yield from _block(program, task, task.tree)


def _block(program: Program, task: Task, block: Block) -> Iterator[Finding]:
    for i, node in enumerate(block):
        for inner in blocks(node):
            yield from _block(program, task, inner)
        if isinstance(node, Step) and isinstance(node.model, CountIn):
            yield from _behind(program, task, node, node.model, block[i + 1 :])


def _behind(program: Program, task: Task, count: Step, model: CountIn, rest: Block) -> Iterator[Finding]:
    last = [node for node in rest if _asks(program, node, model.last.name)]
    read = {touch.reference.name for _, touch in _touches(program, task, last) if touch.reads}
    for step, touch in _touches(program, task, [node for node in rest if node not in last]):
        name = touch.reference.name
        if touch.writes and name in read and name in program.tensors:
            yield Finding(
                RULE.name,
                f"`{name}` is written after `count_in: {model.count_in}` has told the last one to read it",
                Place(step.route if step.verb == "do" else touch.route),
                (Place((*count.route, "count_in"), label="counts what was written before"),),
                help="move the step before `count_in`",
            )


def _asks(program: Program, node: Node, register: str) -> bool:
    if not isinstance(node, Guard) or node.condition is None:
        return False
    return register in program.flat(node.condition, node.env).free


def _touches(program: Program, task: Task, nodes: Block | list[Node]) -> Iterator[tuple[Step, Touch]]:
    for node, _ in walk(tuple(nodes)):
        if isinstance(node, Step):
            yield from ((node, touch) for touch in program.touches(node, task))
