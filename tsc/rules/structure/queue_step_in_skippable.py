"""Puts a step of the queue into a `skippable` block.

What it does
    Checks that no step that names a queue stands inside `skippable`.

Why is this bad
    A skipped tile has been taken all the same. A task that does not give it back never gets the next one.

Example
    - skippable:
        - {do: scale}
        - wait: tiles
        - get_and_advance_work_tile: tiles
        - release: tiles

Use instead
    - skippable:
        - {do: scale}
    - wait: tiles
    - get_and_advance_work_tile: tiles
    - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.resources import Queue
from tsc.spec.schedule import Skippable

RULE = Rule("TSC129", "queue-step-in-skippable", Severity.ERROR, "a step of the queue can be skipped")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step of a queue inside `skippable`."""
    resources = program.spec.resources
    for spot in spots(program):
        outer, operand = spot.around(Skippable), spot.operand
        if outer is not None and operand is not None and isinstance(resources.get(operand.name), Queue):
            yield Finding(
                RULE.name,
                f"`{spot.verb}: {operand}` stands inside `skippable`, and every tile needs it",
                spot.key(),
                (outer.key("skipped with its tile"),),
                help="move it behind the `skippable` block",
            )
