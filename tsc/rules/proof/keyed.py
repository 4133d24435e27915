"""What the author calls by a `key`: numbers of rounds and conditions, as expressions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from tsc.expr import Expr, ExprError, parse
from tsc.program.model import Program, Task
from tsc.program.tree import Guard, Loop, walk
from tsc.rules.proof.fills import trips
from tsc.source.route import Route


@dataclass(frozen=True, slots=True)
class Form:
    """One form of what a key names."""

    task: Task
    value: Expr
    place: Route


def forms(program: Program) -> dict[tuple[str, str], list[Form]]:
    """Return the forms of each key, of rounds and of conditions apart, that all tasks see alike.

    Left out is what depends on tokens, registers, tensors, the values of loops, threads, or the place in a
    cluster: each CTA has a key of its own.
    """
    found: dict[tuple[str, str], list[Form]] = {}
    for task in program.tasks:
        for node, _ in walk(task.tree):
            value: Expr | None = None
            kind = key = ""
            place: Route = ()
            if isinstance(node, Loop) and node.key is not None:
                kind, key, place = "rounds", node.key, (*node.route, node.kind)
                with suppress(ExprError):
                    count = trips(program, node)
                    value = None if count is None else parse(count)
            elif isinstance(node, Guard) and node.key is not None and node.condition is not None:
                kind, key, place = "holds", node.key, (*node.route, node.verb)
                value = program.flat(node.condition, node.env)
                if not value.is_condition:
                    with suppress(ExprError):
                        value = parse(f"({value.text}) != 0")
            if value is not None and _everywhere(program, value):
                found.setdefault((kind, key), []).append(Form(task, value, place))
    return found


def _everywhere(program: Program, value: Expr) -> bool:
    names = {name.text for name in value.names}
    alike = program.dims.keys() | program.scalars.keys() | {"sms"}
    return all(name in alike or name.startswith("tile.") for name in names) and not value.indexed
