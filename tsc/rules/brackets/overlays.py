"""What a task reads after it has overwritten the bytes under another name: facts of `overwritten-overlay`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.emit.places import Place, overlaps, places_of
from tsc.program.conditions import Conditions
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.spans import meet, spans
from tsc.program.tree import Step
from tsc.rules.brackets.holds import named, text
from tsc.source.route import Route

Overwritten = frozenset[tuple[Place, Place, int]]
"""Places with what was written to their bytes since, and the step that wrote it."""


@dataclass(frozen=True, slots=True)
class Read:
    """A read of overwritten bytes; with `fill` it was no step of the task, but what its wait waited for."""

    reader: str
    place: str
    route: Route
    writer: str
    writer_place: str
    writer_route: Route
    fill: bool


def overwritten(program: Program) -> Iterator[Read]:
    """Yield the reads of every task that find what was written under another name."""
    covered = _covered(program)
    for task in program.tasks if covered else ():
        yield from _Walk(program, task, covered).reads()


def _covered(program: Program) -> dict[Place, tuple[Place, ...]]:
    """Return the places that surely lose bytes when a place is written, whatever the stages at hand."""

    def by_stage(place: Place) -> list[tuple[tuple[int, int], ...]]:
        memory = program.memories[place[0]]
        return [(span,) for span in spans(memory, place[1], memory.buffer(place[2]))]

    found = {
        place: tuple(
            other for other in others if all(meet(a, b) for a in by_stage(place) for b in by_stage(other))
        )
        for place, others in overlaps(program).items()
    }
    return {place: others for place, others in found.items() if others}


class _Walk:
    def __init__(self, program: Program, task: Task, covered: dict[Place, tuple[Place, ...]]) -> None:
        self.program, self.task, self.covered = program, task, covered
        self.steps = {step.index: step for step in task.steps()}
        self.found: dict[tuple[int, Place], tuple[Route, Place, int]] = {}

    def reads(self) -> Iterator[Read]:
        concerned = {index for index, step in self.steps.items() if self.concerns(step)}
        if len(concerned) < 2:
            return
        conditions = Conditions(self.program)
        walker = Walker(
            self.program, self.task, self.transfer, lambda step: step.index in concerned, conditions
        )
        walker.run(frozenset())
        for (index, place), (route, by, writer) in sorted(self.found.items()):
            step = self.steps[writer]
            yield Read(
                named(self.steps[index]),
                place[0],
                route,
                text(step) if step.verb == "wait" else named(step),
                by[0],
                step.route,
                step.verb == "wait",
            )

    def concerns(self, step: Step) -> bool:
        touched = (p for t in self.program.touches(step, self.task) for p in places_of(self.program, t))
        return any(place in self.covered for place in (*touched, *self.taken(step)))

    def taken(self, step: Step) -> list[Place]:
        """Return the places of a ring of which the step waits for a filled stage."""
        reference = operand_of(step)
        if step.verb != "wait" or reference is None:
            return []
        meanings = self.program.meanings
        operand = meanings.meaning(reference, self.task.name, self.task.replica, step.env, step.route)
        names = meanings.group_members(reference.name)
        memories = (self.program.memories[name] for name in names if name in self.program.memories)
        copy = 0 if operand is None else operand.copy
        return [(memory.name, copy, buffer.name) for memory in memories for buffer in memory.buffers]

    def transfer(self, step: Step, state: Overwritten) -> Overwritten:
        written = set(self.taken(step))
        for touch in self.program.touches(step, self.task):
            for place in places_of(self.program, touch):
                # What is updated may be written first.
                if touch.mode == "read":
                    for lost, by, writer in state:
                        if lost == place:
                            self.found.setdefault(
                                (step.index, place), (touch_route(step, touch.route), by, writer)
                            )
                if touch.writes:
                    written.add(place)
        kept = {entry for entry in state if entry[0] not in written}
        for place in written:
            kept |= {
                (other, place, step.index) for other in self.covered.get(place, ()) if other not in written
            }
        return frozenset(kept)


def touch_route(step: Step, route: Route) -> Route:
    """Return the place of an access in its step: of a work the step that does it."""
    return (*step.route, "do") if route[0] == "work" else route
