"""The names that a task's steps, loops and conditions mention, each place a step that a walker can see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from tsc.diagnostics.model import Place
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop
from tsc.rules.structure.expressions import expressions_of


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at its place; one that a let mentions stands where the let does."""

    name: str
    place: Place


def mentions(program: Program, node: Node) -> Iterator[Mention]:
    """Yield the names in a node's own expressions, not in the blocks inside it."""
    for route, expr in expressions_of(node):
        for name in expr.names:
            place = Place(route, within=(name.start, name.end))
            let = program.lets.get(name.text)
            if let is None:
                yield Mention(name.text, place)
            else:
                yield from (Mention(inner.text, place) for inner in let.names)


@dataclass(frozen=True, slots=True)
class Looked:
    """A task in whose tree a step `look` stands before each loop and condition that mentions a name.

    `mentioned` has the mentions by the index of the step or look at which they are evaluated.
    """

    task: Task
    mentioned: dict[int, list[Mention]]


def with_looks(program: Program, task: Task, wanted: Callable[[str], bool]) -> Looked:
    """Return the task with looks for the names that are wanted."""
    mentioned: dict[int, list[Mention]] = {}
    numbers = count(-1, -1)

    def block(nodes: Block) -> Block:
        made: list[Node] = []
        for node in nodes:
            found = [mention for mention in mentions(program, node) if wanted(mention.name)]
            index = node.index if isinstance(node, Step) else next(numbers)
            if found:
                mentioned[index] = found
                if not isinstance(node, Step):
                    made.append(Step(node.route, "look", "look", node.env, "HEAD", index))
            made.append(inside(node))
        return tuple(made)

    def inside(node: Node) -> Node:
        match node:
            case TileLoop():
                return replace(node, body=block(node.body))
            case Loop():
                pieces = tuple(replace(piece, body=block(piece.body)) for piece in node.pieces)
                return replace(node, pieces=pieces)
            case Guard():
                return replace(node, then=block(node.then), otherwise=block(node.otherwise))
        return node

    return Looked(replace(task, tree=block(task.tree)), mentioned)
