"""Every node of every schedule as written, with its place and the nodes around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tsc.diagnostics.model import Place
from tsc.model import Reference
from tsc.ops.base import StepModel
from tsc.program.model import Program
from tsc.program.names import block_fields, key_of
from tsc.rules.memo import per_program
from tsc.source.route import Route


@dataclass(frozen=True, slots=True)
class Spot:
    """A node: its model or bare word, its task, and the spots around it, outermost first."""

    task: str
    node: Any
    route: Route
    above: tuple[Spot, ...]

    @property
    def verb(self) -> str:
        """The verb, or the bare word itself."""
        return self.node if isinstance(self.node, str) else str(self.node.verb)

    @property
    def operand(self) -> Reference | None:
        """What the verb names, where that is a reference."""
        if isinstance(self.node, str):
            return None
        for field in type(self.node).model_fields:
            if key_of(self.node, field) == self.verb:
                value = getattr(self.node, field)
                return value if isinstance(value, Reference) else None
        return None

    def key(self, label: str = "") -> Place:
        """Return the place of the verb, which stands for the whole node."""
        return Place(
            self.route if isinstance(self.node, str) else (*self.route, self.verb), "key", label=label
        )

    def at(self, key: str) -> Place:
        """Return the place of an option's value."""
        return Place((*self.route, key))

    def around(self, *models: type[StepModel]) -> Spot | None:
        """Return the innermost spot around it of one of these models."""
        return next((outer for outer in reversed(self.above) if isinstance(outer.node, models)), None)


@per_program
def spots(program: Program) -> tuple[Spot, ...]:
    """Return the nodes of all tasks in textual order, those of builds that are not kept included."""
    found: list[Spot] = []
    for name, task in program.spec.tasks.items():
        found += _spots(name, task.schedule, ("tasks", name, "schedule"), ())
    return tuple(found)


def _spots(task: str, block: tuple[Any, ...], route: Route, above: tuple[Spot, ...]) -> Iterator[Spot]:
    for i, node in enumerate(block):
        spot = Spot(task, node, (*route, i), above)
        yield spot
        if isinstance(node, StepModel):
            for field in block_fields(node):
                inner = getattr(node, field)
                if inner is not None:
                    yield from _spots(task, inner, (*spot.route, key_of(node, field)), (*above, spot))
