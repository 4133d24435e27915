"""Where the bytes of asynchronous loads are announced: once a bracket where that is possible, else load by
load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tsc.emit.kernel import Kernel
from tsc.emit.rings import Rings
from tsc.ops.base import Engine
from tsc.program.accesses import touches
from tsc.program.expand import operand_of
from tsc.program.model import Task
from tsc.program.tree import Block, Step, blocks, walk

Ring = tuple[str, int]


@dataclass(slots=True)
class Brackets:
    """By step index. `totals`: bytes that a first load announces for its bracket, `None` for its own alone.

    `quiet`: loads whose bytes an earlier one announced. `silent`: commits whose arrival the announcement was.
    """

    totals: dict[int, int | None] = field(default_factory=dict)
    quiet: set[int] = field(default_factory=set)
    silent: set[int] = field(default_factory=set)
    # Store rings whose stores read the stage committed last, whichever has been acquired since.
    deep: set[Ring] = field(default_factory=set)


def loads_of(step: Step, kernel: Kernel, task: Task) -> dict[Ring, int | None]:
    """Return the rings that a step fills asynchronously, with the bytes where they are known when built."""
    program, found = kernel.program, {}
    for touch in touches(step, program.meanings, program.works, task.name, task.replica):
        if touch.engine is not Engine.TMA or not touch.writes or touch.operand is None:
            continue
        memory = program.memories.get(touch.operand.name)
        if memory is None or not memory.ring:
            continue
        buffer = memory.buffer(touch.reference.buffer)
        static = None if buffer is None or getattr(step.model, "rows", None) is not None else buffer.bytes
        found[memory.name, touch.operand.copy] = static
    return found


def find_brackets(kernel: Kernel, task: Task, rings: Rings) -> Brackets:
    """Find the brackets of a task whose loads are announced together."""
    found = Brackets()
    for (name, copy), pipeline in kernel.program.pipelines.items():
        if pipeline.store_ring and (pipeline.loaded or rings.held.deepest.get((name, copy, "write"), 1) > 1):
            found.deep.add((name, copy))
    _Finder(kernel, task, rings, found).block(task.tree)
    return found


class _Finder:
    def __init__(self, kernel: Kernel, task: Task, rings: Rings, found: Brackets) -> None:
        self.kernel, self.task, self.rings, self.found = kernel, task, rings, found

    def block(self, block: Block) -> None:
        for at, node in enumerate(block):
            for inner in blocks(node):
                self.block(inner)
            if isinstance(node, Step) and node.verb == "commit":
                self.commit(block, at, node)

    def commit(self, block: Block, at: int, step: Step) -> None:
        members = {(memory.name, copy) for memory, copy in self.rings.members(step)}
        if not members or any(self.rings.held.deepest.get((*ring, "write"), 1) > 1 for ring in members):
            return
        if not all(self.rings.held.certain((*ring, "write")) for ring in members):
            return
        loads: list[tuple[int, Mapping[Ring, int | None]]] = []
        waiting = set(members)
        for node in reversed(block[:at]):
            nested = (
                [s for s, _ in walk((node,)) if isinstance(s, Step)] if not isinstance(node, Step) else []
            )
            if any(members & loads_of(inner, self.kernel, self.task).keys() for inner in nested):
                return
            if not isinstance(node, Step):
                continue
            own = {ring: n for ring, n in loads_of(node, self.kernel, self.task).items() if ring in members}
            if own:
                loads.append((node.index, own))
            if node.verb == "acquire" and operand_of(node) is not None:
                waiting -= {(memory.name, copy) for memory, copy in self.rings.members(node)}
                if not waiting:
                    break
        if waiting or not loads:
            return
        sizes = [size for _, own in loads for size in own.values()]
        if len(loads) > 1 and None in sizes:
            return
        first = loads[-1][0]
        self.found.totals[first] = (
            sum(size for size in sizes if size is not None) if None not in sizes else None
        )
        self.found.quiet |= {index for index, _ in loads if index != first}
        self.found.silent.add(step.index)
