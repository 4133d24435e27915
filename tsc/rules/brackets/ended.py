"""What ended a bracket before a step, and which copy of a `repeat` a step is: words of two bracket rules."""

from __future__ import annotations

from collections.abc import Collection

from tsc.diagnostics.model import Place
from tsc.program.tree import Step
from tsc.rules.brackets.holds import Holds


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
