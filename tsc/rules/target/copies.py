"""The copies between a tensor and a buffer: the facts of the rules about TMA and bulk copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tsc.diagnostics.model import Finding, Place
from tsc.program.model import Buffer, Program, Task, Tensor
from tsc.program.tree import Step
from tsc.source.route import Route


@dataclass(frozen=True, slots=True)
class Copy:
    """A step that moves a whole buffer to or from a tensor."""

    task: Task
    step: Step
    tensor: Tensor
    buffer: Buffer


def copies(program: Program, *verbs: str) -> Iterator[Copy]:
    """Yield the copies by these operations whose operands are of the right kinds."""
    for task in program.tasks:
        for step in task.steps():
            if step.verb not in verbs:
                continue
            tensor = buffer = None
            for touch in program.touches(step, task):
                meaning = program.meaning(touch.reference, task, step.env)
                if touch.reference.name in program.tensors:
                    tensor = program.tensors[touch.reference.name]
                elif meaning is not None and meaning.buffer is not None:
                    buffer = meaning.buffer
            if tensor is not None and buffer is not None:
                yield Copy(task, step, tensor, buffer)


def once(found: Iterator[tuple[Copy, Finding]]) -> Iterator[Finding]:
    """Yield the first finding about each buffer, with the further places where it is moved: one cause."""
    about: dict[Route, list[Finding]] = {}
    for copy, finding in found:
        about.setdefault(copy.buffer.route, []).append(finding)
    for first, *others in about.values():
        routes = dict.fromkeys(other.place.route for other in others if other.place != first.place)
        further = tuple(Place(route, label="and here") for route in routes)
        yield replace(first, related=(*first.related, *further[:3]))
