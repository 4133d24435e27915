"""Where a task reads and writes its registers, and which reads need no look at single paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.diagnostics.model import Place
from tsc.expr import parse, provably, substitute
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.ranges import ranges_at
from tsc.program.tree import Block, Loop, Node, Step, blocks, walk
from tsc.rules.routing.mentions import Looked, with_looks

Chain = tuple[tuple[int, int], ...]
"""The blocks around a step, outermost first: each as a node and the number of the block in it."""


@dataclass(slots=True)
class Accesses:
    """What a task does with one register set, by the index of the step or look."""

    task: Task  # with looks
    name: str
    reads: dict[int, tuple[Place, str]] = field(default_factory=dict)  # the place, and who reads
    writes: set[int] = field(default_factory=set)

    def certain(self) -> bool:
        """Whether a write stands before each read in the text, in a block that is around the read."""
        written: set[Chain] = set()
        for step, chain in _chains(self.task.tree, ()):
            if step.index in self.reads and not any(chain[:n] in written for n in range(len(chain) + 1)):
                return False
            if step.index in self.writes:
                written.add(chain)
        return True


def _chains(block: Block, chain: Chain) -> Iterator[tuple[Step, Chain]]:
    for node in block:
        if isinstance(node, Step):
            yield node, chain
        for i, inner in enumerate(blocks(node)):
            yield from _chains(inner, (*chain, (id(node), i)))


def accesses(program: Program, task: Task) -> list[Accesses]:
    """Return the accesses of a task to each register set that it names."""
    looked = with_looks(program, task, program.registers.__contains__)
    found: dict[str, Accesses] = {}
    for step, above in ((node, above) for node, above in walk(task.tree) if isinstance(node, Step)):
        for touch in program.touches(step, task):
            name = touch.reference.name
            if name not in program.registers:
                continue
            entry = _entry(found, looked, name)
            if _needs(program, task, step, above, touch):
                work = getattr(step.model, "do", None)
                place = Place(touch.route if work is None else (*step.route, "do"))
                entry.reads.setdefault(step.index, (place, f"`{work or step.verb}`"))
            if touch.writes:
                entry.writes.add(step.index)
    for index, mentions in looked.mentioned.items():
        for mention in mentions:
            reads = _entry(found, looked, mention.name).reads
            reads.setdefault(index, (mention.place, "an expression"))
    return list(found.values())


def _entry(found: dict[str, Accesses], looked: Looked, name: str) -> Accesses:
    return found.setdefault(name, Accesses(looked.task, name))


def _needs(program: Program, task: Task, step: Step, above: tuple[Node, ...], touch: Touch) -> bool:
    """Whether the old value matters: always but for an accumulator that the first round clears.

    Outside of loops one that may be cleared is taken to be, where it has to.
    """
    accumulate = getattr(step.model, "accumulate", None)
    if not touch.reads or accumulate is None or touch.mode == "read":
        return touch.reads
    first = {"iter": parse(0)}
    loop = next((node for node in reversed(above) if isinstance(node, Loop)), None)
    if loop is not None:
        first[loop.variable] = program.flat(loop.start, loop.env)
    condition = substitute(program.flat(accumulate, step.env), first)
    held = provably(condition, ranges_at(program, task, above))
    return held is not False if loop is not None else held is True
