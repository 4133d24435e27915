"""Where the other side of a ring waits for what a task never gives: related places of the bracket rules."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from tsc.diagnostics.model import Place
from tsc.program.model import Program
from tsc.rules.brackets.holds import ring_of
from tsc.source.route import Route


def waiting(
    program: Program, ring: str, copies: Collection[int], verb: Literal["acquire", "wait"], until: str = ""
) -> tuple[Place, ...]:
    """Return where the first tasks that `acquire` or `wait` for these copies of a ring do so for ever."""
    found: dict[str, Route] = {}
    for task in program.tasks:
        for step in task.steps():
            if step.verb != verb or task.name in found:
                continue
            if any(name == ring and copy in copies for name, copy in ring_of(program, task, step)):
                found[task.name] = step.route
    return tuple(Place(route, label=f"`{name}` waits here for ever{until}") for name, route in found.items())[
        :3
    ]
