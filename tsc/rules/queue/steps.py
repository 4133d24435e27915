"""The steps of the queue that tasks write themselves: the facts of the rules of this family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.diagnostics.model import Place
from tsc.program.expand import DATA_STEPS, FETCH_STEPS, QUEUE_VERBS, operand_of
from tsc.program.model import Program, Task
from tsc.program.tree import Node, Step, TileLoop, walk
from tsc.spec.resources import Queue

ORDER = (
    "try_acquire",
    "acquire",
    "fetch_work_tile",
    "commit",
    "try_wait",
    "wait",
    "get_and_advance_work_tile",
    "release",
)
"""All steps of the protocol, in their order."""

SCHEDULING = ORDER[:4]
"""Those that make a task the scheduler task."""


@dataclass(frozen=True, slots=True)
class Written:
    """A step of the queue as a task writes it, and the nodes around it."""

    step: Step
    queue: str
    above: tuple[Node, ...]

    @property
    def place(self) -> Place:
        """The place of its verb."""
        return Place((*self.step.route, self.step.verb), "key")


@dataclass(frozen=True, slots=True)
class Protocol:
    """What one task instance writes of the protocol, in textual order."""

    task: Task
    steps: tuple[Written, ...]

    @property
    def schedules(self) -> bool:
        """Whether it is a scheduler task."""
        return any(written.step.verb in SCHEDULING for written in self.steps)

    @property
    def needed(self) -> tuple[str, ...]:
        """The steps that cannot be left out, in their order."""
        return FETCH_STEPS if self.schedules else DATA_STEPS


def protocols(program: Program) -> Iterator[Protocol]:
    """Yield the task instances that write steps of the queue."""
    for task in program.tasks:
        found = tuple(_written(program, task))
        if found:
            yield Protocol(task, found)


def _written(program: Program, task: Task) -> Iterator[Written]:
    for node, above in walk(task.tree):
        if isinstance(node, Step) and not node.derived and node.verb in QUEUE_VERBS:
            reference = operand_of(node)
            if reference is not None and isinstance(program.spec.resources.get(reference.name), Queue):
                yield Written(node, reference.name, above)


def tile_loops(program: Program) -> Iterator[tuple[Task, TileLoop]]:
    """Yield the outermost `work_tile_loop`s of the tasks that the spec has."""
    for task in program.tasks:
        for node in task.tree if not task.derived else ():
            if isinstance(node, TileLoop):
                yield task, node
