"""Syncs and fences inside one task that nobody writes: before a step that meets what other threads left
behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tsc.emit.kernel import Kernel
from tsc.ops.base import Engine
from tsc.program.accesses import touches
from tsc.program.expand import operand_of
from tsc.program.model import Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, walk
from tsc.source.route import Route

Place = tuple[str, int]  # a memory resource and its copy
# What happened at a place since the task's last sync; `unfenced` since the last proxy fence.
Marks = frozenset[str]
State = Mapping[Place, Marks]

SYNCS = frozenset(("task_sync", "store_wait", "sync"))
APART = frozenset(("load", "store", "do", "zero", "convert"))
PRIVATE = frozenset(("thread", "warp", "lane"))


@dataclass(slots=True)
class Hazards:
    """Steps, by index, before which all threads of the task meet, or fence their writes to shared memory."""

    syncs: set[int] = field(default_factory=set)
    fences: set[int] = field(default_factory=set)
    # Nodes, by identity, that not all threads enter, so that what is needed inside stands before them.
    before: dict[int, set[str]] = field(default_factory=dict)
    impossible: list[Route] = field(default_factory=list)


def find_hazards(kernel: Kernel, task: Task) -> Hazards:
    """Walk a task's tree, loops as often as anything new comes up."""
    found = Hazards()
    if not task.single:
        _Walk(kernel, task, found).block(task.tree, {})
    return found


class _Walk:
    def __init__(self, kernel: Kernel, task: Task, found: Hazards) -> None:
        self.kernel, self.task, self.found, self.program = kernel, task, found, kernel.program

    def block(self, block: Block, state: State) -> State:
        for node in block:
            state = self.apart(node, state) if self.diverges(node) else self.node(node, state)
        return state

    def node(self, node: Node, state: State) -> State:
        match node:
            case Step():
                return self.step(node, state)
            case Guard():
                return _joined(self.block(node.then, state), self.block(node.otherwise, state))
            case Loop():
                for piece in node.pieces:
                    state = self.repeated(piece.body, state)
                return state
            case TileLoop():
                return self.repeated(node.body, state)

    def diverges(self, node: Node) -> bool:
        """Whether threads of the task may part at a node."""
        match node:
            case Guard(condition=condition) if condition is not None:
                expressions = [condition]
            case Loop():
                expressions = [node.start, node.end, node.step]
            case _:
                return False
        # A register that decides over a common step is the same in all threads; that is the author's promise.
        common = any(isinstance(inner, Step) and inner.verb not in APART for inner, _ in walk((node,)))
        private = PRIVATE if common else PRIVATE | self.program.registers.keys()
        return any(self.program.values.flat(expr, node.env).free & private for expr in expressions)

    def apart(self, node: Node, state: State) -> State:
        """Walk a node that not all threads enter: they meet before it, since they cannot inside."""
        needs = self.trial(node, state)
        if needs.syncs or needs.fences:
            kinds = self.found.before.setdefault(id(node), set())
            kinds |= ({"fence"} if needs.fences else set()) | {"sync"}
            state = {place: frozenset[str]() for place in state} if needs.fences else _synced(state)
            if self.trial(node, state).syncs:
                self.found.impossible.append(node.route)
        return _Walk(self.kernel, self.task, Hazards()).node(node, state)

    def trial(self, node: Node, state: State) -> Hazards:
        """Return what a node would need inside."""
        found = Hazards()
        _Walk(self.kernel, self.task, found).node(node, state)
        found.syncs |= {index for index in found.before}
        return found

    def repeated(self, body: Block, state: State) -> State:
        while True:
            after = _joined(state, self.block(body, state))
            if after == state:
                return state
            state = after

    def step(self, step: Step, state: State) -> State:
        if step.verb in SYNCS:
            return _synced(state)
        if step.verb in ("acquire", "commit", "wait"):
            return self.ring(step, state)
        if step.verb == "release":
            return self.release(step, state)
        after = dict(state)
        for touch in touches(
            step, self.program.meanings, self.program.works, self.task.name, self.task.replica
        ):
            if touch.operand is None or touch.operand.name not in self.program.memories:
                continue
            place = (touch.operand.name, touch.operand.copy)
            marks = state.get(place, frozenset())
            if touch.engine is Engine.STORE:
                if "unfenced" in marks:
                    self.found.fences.add(step.index)
                if "written" in marks or "unfenced" in marks:
                    self.found.syncs.add(step.index)
            elif touch.engine is Engine.THREAD and ("written" in marks or (touch.writes and "read" in marks)):
                self.found.syncs.add(step.index)
        if step.index in self.found.fences:
            after = {place: marks - {"unfenced"} for place, marks in after.items()}
        if step.index in self.found.syncs:
            after = dict(_synced(after))
        for touch in touches(
            step, self.program.meanings, self.program.works, self.task.name, self.task.replica
        ):
            if touch.operand is None or touch.operand.name not in self.program.memories:
                continue
            if touch.engine is Engine.THREAD:
                place = (touch.operand.name, touch.operand.copy)
                new = {"read"} if touch.mode == "read" else {"written", "unfenced"}
                after[place] = after.get(place, frozenset()) | new
        return after

    def release(self, step: Step, state: State) -> State:
        """What a consumer wrote to a stage is fenced before TMA fills the stage again."""
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        if operand is None or reference is None:
            return state
        for name in self.program.meanings.group_members(reference.name):
            place = (name, operand.copy)
            if "unfenced" in state.get(place, ()) and Engine.TMA.value in self.kernel.engines(*place)[1]:
                self.found.fences.add(step.index)
        if step.index not in self.found.fences:
            return state
        return {place: marks - {"unfenced"} for place, marks in state.items()}

    def ring(self, step: Step, state: State) -> State:
        """A new stage has no past in this task; the steps of a store ring sync."""
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        if operand is None or reference is None:
            return state
        after = dict(state)
        for name in self.program.meanings.group_members(reference.name):
            place = (name, operand.copy)
            pipeline = self.program.pipelines.get(place)
            if pipeline is None:
                continue
            if pipeline.store_ring:
                after = dict(_synced(after))
                if step.verb == "commit":
                    after = {other: marks - {"unfenced"} for other, marks in after.items()}
            if step.verb in ("acquire", "wait"):
                after.pop(place, None)
        return after


def _synced(state: State) -> State:
    return {place: marks & {"unfenced"} for place, marks in state.items()}


def _joined(a: State, b: State) -> State:
    none: Marks = frozenset()
    return {place: a.get(place, none) | b.get(place, none) for place in {**a, **b}}
