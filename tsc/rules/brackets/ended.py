"""What ended a bracket before a step, and which copy of a `repeat` a step is: words of two bracket rules."""

from __future__ import annotations

from collections.abc import Collection

from tsc.diagnostics.model import Finding, Place
from tsc.ops.base import Engine
from tsc.program.tree import Step
from tsc.rules.brackets.holds import Holds, named


def ended(entry: Holds, step: Step, opening: str, closing: str, label: str) -> tuple[Place, ...]:
    """Return where the bracket opened before a step ended before it; nothing where none was opened."""
    opened = max((one.index for one in entry.verbs(opening) if one.index < step.index), default=step.index)
    found = [one for one in entry.verbs(closing) if opened < one.index < step.index]
    return tuple(Place(one.route, label=f"{label}{copy_of(entry, one)}") for one in found[:1])


def copy_of(entry: Holds, step: Step) -> str:
    """Say which copy of a `repeat` a step is; nothing outside of one."""
    others = entry.steps.values()
    own = [
        f"{name} = {value}"
        for name, value in step.env.items()
        if any(other.env.get(name, value) != value for other in others)
    ]
    return f", in the copy `{', '.join(own)}`" if own else ""


def first_copy(entry: Holds, stray: Collection[int], step: Step) -> str:
    """Say which copy a stray step is; nothing where all copies of it are."""
    alike = {index for index in entry.touches if entry.steps[index].route == step.route}
    return copy_of(entry, step) if alike - set(stray) else ""


def made_ordinary(entry: Holds, index: int) -> bool:
    """Whether a store reads what its task has committed, and a `release` makes the ring an ordinary one."""
    by_store = any(touch.engine is Engine.STORE for touch in entry.touches[index] if touch.reads)
    waits, gives = entry.verbs("wait"), entry.verbs("release")
    return by_store and bool(gives) and not waits and bool(entry.verbs("commit"))


def given_back(rule: str, entry: Holds, step: Step) -> Finding:
    """Tell of the `release` that makes a ring an ordinary one."""
    ring, given = entry.memory.name, entry.verbs("release")[0]
    return Finding(
        rule,
        f"a ring that its own task stores has no `release`, and `{entry.task.name}` releases `{ring}`",
        Place(given.route, label="makes it a ring for other tasks"),
        (Place(step.route, label=f"`{named(step)}` reads what the task committed"),),
        help=f"take `release: {ring}` away: `acquire` waits until the store has read its stage",
    )
