"""Repeats a block more often than anybody wants its text, or less than never.

What it does
    Counts the copies that the `repeat` blocks of a task make, those inside each other multiplied.

Why is this bad
    Every copy becomes code of its own. The compiler would take minutes, and the kernel would not fit
    the instruction cache.

Example
    - repeat: 100000
      as: i
      body: [{do: step, with: {index: i}}]

Use instead
    - for: 100000
      as: i
      body: [{do: step, with: {index: i}}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.base import StepModel
from tsc.program.expand import MOST_COPIES
from tsc.program.model import Program
from tsc.program.names import block_fields, key_of
from tsc.source.route import Route
from tsc.spec.schedule import If, Repeat

RULE = Rule("TSC141", "too-many-copies", Severity.ERROR, "a `repeat` makes too many copies")

Env = Mapping[str, int | bool]


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the `repeat` of each task that passes the most copies, and for negative counts."""
    for task in program.tasks:
        if task.name in program.spec.tasks:
            env: Env = {"threads": task.threads} | ({} if task.replica is None else {"replica": task.replica})
            yield from _Count(program).block(
                program.spec.tasks[task.name].schedule, (*task.route, "schedule"), env
            )


class _Count:
    def __init__(self, program: Program) -> None:
        self.program, self.copies = program, 0

    def block(self, block: tuple[Any, ...], route: Route, env: Env) -> Iterator[Finding]:
        for i, node in enumerate(block):
            if isinstance(node, StepModel) and self.copies <= MOST_COPIES:
                yield from self.node(node, (*route, i), env)

    def node(self, node: StepModel, route: Route, env: Env) -> Iterator[Finding]:
        if isinstance(node, Repeat):
            yield from self.repeat(node, route, env)
            return
        kept = self.program.values.value(node.if_, route, env) if isinstance(node, If) else None
        for field in block_fields(node):
            if kept is None or bool(kept) == (field == "then"):
                yield from self.block(getattr(node, field) or (), (*route, key_of(node, field)), env)

    def repeat(self, node: Repeat, route: Route, env: Env) -> Iterator[Finding]:
        place = Place((*route, "repeat"))
        listed = isinstance(node.repeat, tuple)
        items = node.repeat if isinstance(node.repeat, tuple) else (node.repeat,)
        found = [self.program.values.integer(item, place.route, env) for item in items]
        count = len(found) if listed else found[0] or 0
        if count < 0:
            yield Finding(RULE.name, f"`repeat` makes {count:,} copies", place, help="write 0 or more")
        if self.copies + count > MOST_COPIES:
            self.copies = MOST_COPIES + 1
            yield Finding(
                RULE.name,
                f"with this `repeat` the schedule has more than {MOST_COPIES:,} copies",
                place,
                help="write `for:` with `as:`, which loops at run time",
            )
            return
        for value in found if listed else range(count):
            self.copies += 1
            yield from self.block(
                node.body, (*route, "body"), env if value is None else {**env, node.as_: value}
            )
