"""Refers to something that nothing declares.

What it does
    Looks up what steps, works, groups, `per`, `over` and orders refer to: resources, params, workspace,
    works and tasks, by name.

Why is this bad
    The step has nothing to work on.

Example
    - acquire: rings          # the resource is called `ring`

Use instead
    - acquire: ring
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.rules.names.references import unresolved

RULE = Rule("TSC107", "unknown-resource", Severity.ERROR, "a reference names nothing that is declared")

SHOWN = 6


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference to an unknown name, with the nearest known one."""
    alike: dict[tuple[str, str], list[Place]] = {}
    choices: dict[tuple[str, str], list[str]] = {}
    for found in unresolved(program):
        alike.setdefault((found.wanted, found.name), []).append(Place(found.route))
        choices.setdefault(
            (found.wanted, found.name), list(found.choices if found.fitting is None else found.fitting)
        )
    for (wanted, name), (first, *others) in alike.items():
        names = choices[wanted, name]
        also = tuple(replace(place, label="and here") for place in others if place.route != first.route)
        yield Finding(
            RULE.name,
            f"no {wanted} is called `{name}`",
            first,
            also[:3],
            help=did_you_mean(name, names) or _else(names),
        )


def _else(names: list[str]) -> str:
    if not names:
        return "declare it; nothing that is declared can stand here"
    if len(names) == 1:
        return f"declare it, or name `{names[0]}`"
    return f"declare it, or name one of {listing(names[:SHOWN])}" + (", ..." if len(names) > SHOWN else "")
