"""Lists other tasks in the order of a turn than those that take it.

What it does
    Compares `order` with the tasks whose schedules name the turn: each has one entry, and no other task
    has one.

Why is this bad
    A turn goes round in this order. It would be passed to a task that never passes it on, or never reach
    one that waits for it.

Example
    turns: {kind: turn, order: [math[0], load]}      # `math[1]` takes it too, and `load` does not

Use instead
    turns: {kind: turn, order: [math[0], math[1]]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.model import Reference
from tsc.program.model import Program, Task
from tsc.spec.resources import Turn

RULE = Rule("TSC148", "turn-order-mismatch", Severity.ERROR, "the order of a turn is not that of its tasks")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each entry without its task and each task without its entry."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, Turn) or model.order is None:
            continue
        route = ("resources", name, "order")
        labels = {
            label for (turn, _), o in program.orders.items() if turn == name for label in o.participants
        }
        listed: set[str] = set()
        for i, entry in enumerate(model.order):
            meant = {task.label for task in program.tasks if _means(program, entry, task)}
            if entry.name in program.spec.tasks and not meant & labels:
                yield Finding(
                    RULE.name,
                    f"`{entry}` is in the order of `{name}`, and never takes it",
                    Place((*route, i)),
                    help="take the entry away, or let the task `take` and `pass` the turn",
                )
            elif meant & listed:
                yield Finding(
                    RULE.name,
                    f"`{entry}` is in the order of `{name}` twice",
                    Place((*route, i)),
                    help="name each task once",
                )
            listed |= meant
        for label in sorted(labels - listed):
            yield Finding(
                RULE.name,
                f"`{label}` takes `{name}`, and its order does not list it",
                Place(route, "key"),
                help=f"add `{label}` to the list, or leave `order` out",
            )


def _means(program: Program, entry: Reference, task: Task) -> bool:
    if entry.name != task.name:
        return False
    return entry.index is None or program.values.integer(entry.index, ()) == (task.replica or 0)
