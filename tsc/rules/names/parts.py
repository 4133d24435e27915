"""References to one buffer where a whole ring is meant: facts of the rule `unknown-buffer`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.model import Reference
from tsc.ops.registry import BY_VERB
from tsc.program.expand import operand_of
from tsc.program.model import Program
from tsc.rules.names.references import overlay_place
from tsc.source.route import Route


@dataclass(frozen=True, slots=True)
class Part:
    """A reference to a part, its place and key, and the words that say what takes the whole."""

    reference: Reference
    route: Route
    key: str
    said: str


def parts(program: Program) -> Iterator[Part]:
    """Yield the parts that overlays and steps of the protocol name."""
    for memory in program.memories.values():
        if memory.over is not None and _part(program, memory.over):
            said = f"`{memory.name}` lies over whole stages"
            yield Part(memory.over, overlay_place(program, memory), "over", said)
    for task in program.tasks:
        for step in task.steps():
            reference = operand_of(step)
            if step.verb not in BY_VERB and reference is not None and _part(program, reference):
                said = f"`{step.verb}` moves whole stages"
                yield Part(reference, (*step.route, step.verb), step.verb, said)


def _part(program: Program, reference: Reference) -> bool:
    memory = program.memories.get(reference.name)
    if memory is None or not (reference.transposed or memory.buffer(reference.buffer or "")):
        return False
    # What no buffer is called is reported as unknown.
    unknown = reference.buffer == memory.name or (reference.transposed and memory.buffer("T") is not None)
    return not unknown
