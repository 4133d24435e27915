"""Which step made the token or register that a node speaks of: each place sees one version of each name.

A version is a value that one step made, or, where several ways meet (behind a guard, at the head of a loop
and behind it), whichever of them came there. Two places that see one version see one value as long as the
loops around the version stand at the same round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tsc.program.accesses import touches
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, blocks
from tsc.prove.asked.model import LoopNode
from tsc.spec.schedule import Do


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A value of a token or register: the step that made it, if it is one, and the loops around that."""

    name: str
    number: int  # among all versions of the task
    above: tuple[LoopNode, ...]
    step: Step | None = None


Seen = Mapping[str, Version]


class Versions:
    """The versions of one task."""

    def __init__(self, program: Program, task: Task) -> None:
        """Walk the whole schedule once."""
        self.program, self.task = program, task
        self._count = 0
        self._at: dict[int, Seen] = {}
        self._made: dict[int, frozenset[str]] = {}
        self._block(task.tree, {}, ())

    def at(self, node: Node) -> Seen:
        """Return what each name means where a node begins; a name that nothing has made is left out."""
        return self._at.get(id(node), {})

    def inside(self, node: LoopNode) -> Seen:
        """Return what each name means at the beginning of any round of a loop."""
        return self._at.get(-id(node), {})

    def _new(self, name: str, above: tuple[LoopNode, ...], step: Step | None = None) -> Version:
        self._count += 1
        return Version(name, self._count, above, step)

    def _block(self, block: Block, seen: Seen, above: tuple[LoopNode, ...]) -> Seen:
        for node in block:
            self._at[id(node)] = seen
            seen = self._behind(node, seen, above)
        return seen

    def _behind(self, node: Node, seen: Seen, above: tuple[LoopNode, ...]) -> Seen:
        match node:
            case Step():
                return {**seen, **{name: self._new(name, above, node) for name in self._names(node)}}
            case Guard():
                then = self._block(node.then, seen, above)
                other = self._block(node.otherwise, seen, above)
                if then is seen and other is seen:
                    return seen
                met = {name for name in {**then, **other} if then.get(name) is not other.get(name)}
                return {**then, **{name: self._new(name, above) for name in sorted(met)}}
            case TileLoop() | Loop():
                changed = sorted(self._changed(node))
                inner = (*above, node)
                head = {**seen, **{name: self._new(name, inner) for name in changed}}
                self._at[-id(node)] = head
                for block in blocks(node):
                    self._block(block, head, inner)
                return {**seen, **{name: self._new(name, above) for name in changed}} if changed else seen

    def _changed(self, node: Node) -> frozenset[str]:
        if id(node) not in self._made:
            if isinstance(node, Step):
                found = self._names(node)
            else:
                found = frozenset(
                    name for block in blocks(node) for inner in block for name in self._changed(inner)
                )
            self._made[id(node)] = found
        return self._made[id(node)]

    def _names(self, step: Step) -> frozenset[str]:
        """Return the tokens and registers that a step gives a value."""
        found = set(step.model.out) - {"_"} if isinstance(step.model, Do) else set()
        for touch in touches(
            step, self.program.meanings, self.program.works, self.task.name, self.task.replica
        ):
            if touch.writes and touch.operand is not None and touch.operand.kind == "registers":
                found.add(touch.operand.name)
        return frozenset(found)
