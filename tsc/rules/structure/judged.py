"""Which tasks a rule about paths can judge: what refers to nothing is said by a rule of its own, alone."""

from __future__ import annotations

from tsc.program.model import Program, Task
from tsc.rules.memo import per_program
from tsc.rules.names.references import unresolved


@per_program
def judged(program: Program) -> tuple[Task, ...]:
    """Return the tasks whose paths can be judged: all that they refer to is there."""
    lost = {found.task for found in unresolved(program)}
    return () if None in lost else tuple(task for task in program.tasks if task.name not in lost)
