"""Where the other side of a ring waits for what a task never gives: the related places of the bracket rules."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from tsc.diagnostics.model import Place
from tsc.program.model import Program
from tsc.rules.brackets.holds import ring_of
from tsc.source.route import Route


def waiting(
    program: Program, ring: str, copies: Collection[int], verb: Literal["acquire", "wait"], label: str
) -> tuple[Place, ...]:
    """Return where the first tasks that `acquire` or `wait` for these copies of a ring do so.

    `label` names the task as `{}`.
    """
    found: dict[str, tuple[Route, str]] = {}
    for task in program.tasks:
        for step in task.steps():
            if step.verb == verb and task.name not in found:
                if any(name == ring and copy in copies for name, copy in ring_of(program, task, step)):
                    found[task.name] = step.route, label.format(f"`{task.name}`")
    return tuple(Place(route, label=text) for route, text in found.values())[:3]
