"""How many registers a task's fragments take at the same time, read off the text of its schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.expr import Expr, provably
from tsc.program.fragments import Fragment, fragment_of
from tsc.program.model import Program, Task
from tsc.program.tree import Loop, Step, TileLoop, steps, walk


@dataclass(frozen=True, slots=True)
class Peak:
    """The step at which most is needed, and what is needed there."""

    step: Step
    fragments: tuple[Fragment, ...]

    @property
    def words(self) -> int:
        """Registers a thread."""
        return sum(fragment.words for fragment in self.fragments)


def peak(program: Program, task: Task) -> Peak | None:
    """Return where a task's fragments take most registers; nothing where it has none.

    A fragment is needed from the step that writes it to the last one that uses it before it is written anew,
    and through a loop that comes back to a use.
    """
    held: dict[int, list[Fragment]] = {}
    found = {
        it.name: it for name in program.registers if (it := fragment_of(program, task, name)) is not None
    }
    for name, fragment in found.items():
        for index in _held(program, task, name):
            held.setdefault(index, []).append(fragment)
    if not held:
        return None
    where = {step.index: step for step in task.steps()}
    named = {index for name in found for index, _ in _uses(program, task, name)}
    most = max(held, key=lambda index: (sum(it.words for it in held[index]), index in named, -index))
    return Peak(where[most], tuple(held[most]))


def _held(program: Program, task: Task, name: str) -> set[int]:
    """Return the indices of the steps at which a fragment is needed."""
    uses = dict(_uses(program, task, name))
    held, begin = set[int](), -1
    for index, fresh in uses.items():
        if fresh or begin < 0:
            begin = index
        held |= set(range(begin, index + 1))
        begin = index
    for node, _ in walk(task.tree):
        if isinstance(node, (Loop, TileLoop)):
            pieces = [piece.body for piece in node.pieces] if isinstance(node, Loop) else [node.body]
            inside = [step.index for body in pieces for step in steps(body)]
            first = next((index for index in inside if index in uses), None)
            if first is not None and not uses[first]:  # the round before, or what precedes the loop, wrote it
                held |= set(inside) if isinstance(node, Loop) else set()
    return held


def _uses(program: Program, task: Task, name: str) -> Iterator[tuple[int, bool]]:
    """Yield the steps that touch it, each with whether the old value is of no use."""
    for step in task.steps():
        modes = {touch.mode for touch in program.touches(step, task) if touch.reference.name == name}
        if modes:
            accumulate = getattr(step.model, "accumulate", None)
            cleared = accumulate is not None and _never(program, accumulate, step)
            yield step.index, modes == {"write"} or (cleared and modes == {"update"})


def _never(program: Program, condition: Expr, step: Step) -> bool:
    return provably(program.flat(condition, step.env), program.ranges) is False
