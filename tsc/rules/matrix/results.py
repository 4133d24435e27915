"""What a task's steps do with the results in its registers: make, read and overwrite them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.expr import provably
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.tree import Step
from tsc.rules.routing.mentions import with_looks

MAKERS = frozenset(("wgmma", "load", "ldmatrix", "convert", "activate", "tcgen05_ld"))
"""Operations that do nothing but fill registers; `zero` costs too little to speak of."""


@dataclass(slots=True)
class Kept:
    """Steps and looks that touch one register set, by their indices.

    A product that adds to the old value reads it for its own result alone, and so is no reader.
    """

    task: Task  # with looks
    name: str
    makers: set[int] = field(default_factory=set)
    reads: set[int] = field(default_factory=set)
    overwrites: set[int] = field(default_factory=set)

    @property
    def steps(self) -> set[int]:
        """All that a walk has to see."""
        return self.makers | self.reads | self.overwrites


def kept(program: Program, task: Task) -> Iterator[Kept]:
    """Yield what a task does with each register set that an operation fills."""
    looked = with_looks(program, task, program.registers.__contains__)
    found: dict[str, Kept] = {}
    for step in task.steps():
        for touch in program.touches(step, task):
            name = touch.reference.name
            if name in program.registers:
                _note(program, found.setdefault(name, Kept(looked.task, name)), step, touch)
    for index, mentions in looked.mentioned.items():
        for mention in mentions:
            found.setdefault(mention.name, Kept(looked.task, mention.name)).reads.add(index)
    yield from (one for one in found.values() if one.makers)


def _note(program: Program, one: Kept, step: Step, touch: Touch) -> None:
    own = step.verb in MAKERS and touch.mode != "read"
    if touch.reads and not own:
        one.reads.add(step.index)
    if own:
        one.makers.add(step.index)
    if step.verb in (*MAKERS, "zero") and touch.writes and _whole(program, step, touch):
        one.overwrites.add(step.index)


def _whole(program: Program, step: Step, touch: Touch) -> bool:
    """Whether nothing of the old value is left."""
    if touch.mode == "update":
        accumulate = getattr(step.model, "accumulate", None)
        return (
            accumulate is not None and provably(program.flat(accumulate, step.env), program.ranges) is False
        )
    source = getattr(step.model, "from_", None)
    shape = program.registers[touch.reference.name].shape
    if source is None or source.name not in program.memories or shape is None:
        return True
    buffer = program.memories[source.name].buffer(source.buffer)
    extents = () if buffer is None else buffer.shape[::-1] if source.transposed else buffer.shape
    return len(extents) == len(shape) and all(it >= own for it, own in zip(extents, shape, strict=True))
