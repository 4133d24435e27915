"""The tasks in which an operand is not there: what depends on it is left to the rule that says so."""

from __future__ import annotations

from collections.abc import Callable

from tsc.program.expand import operand_of
from tsc.program.model import Program
from tsc.program.tree import Step
from tsc.rules.memo import per_program
from tsc.rules.names.misnamed import misnamed
from tsc.rules.names.references import unresolved

RING_VERBS = frozenset(("acquire", "commit", "wait", "release", "try_acquire", "try_wait", "skip"))
ORDER_VERBS = frozenset(("take", "pass", "sync", "arrive"))


@per_program
def lost(program: Program) -> frozenset[str]:
    """Return the tasks with an operand that is not there, which no other rule should judge."""
    missing = {found.task or "" for found in unresolved(program)} | {task for task, _ in misnamed(program)}
    return frozenset(
        missing | {task.name for task in program.tasks if any(map(_stray(program), task.steps()))}
    )


def _stray(program: Program) -> Callable[[Step], bool]:
    """Whether a step of a protocol names what does not have it, as another rule says."""

    def stray(step: Step) -> bool:
        reference = operand_of(step) if step.verb in RING_VERBS | ORDER_VERBS else None
        if reference is None or reference.name not in {*program.spec.resources, *program.spec.params}:
            return False
        memory = program.memories.get(reference.name)
        if step.verb in ORDER_VERBS:
            return memory is not None
        kind = getattr(program.spec.resources.get(reference.name), "kind", "param")
        return not memory.ring if memory is not None else kind not in ("merge", "fork", "queue")

    return stray
