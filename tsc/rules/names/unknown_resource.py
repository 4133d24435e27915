"""Refers to something that nothing declares.

What it does
    Looks up what steps, works, groups, `per` and `over` refer to: resources, params and workspace, by
    name.

Why is this bad
    The step has nothing to work on.

Example
    - acquire: rings          # the resource is called `ring`

Use instead
    - acquire: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import closest
from tsc.program.model import Program
from tsc.rules.names.references import references

RULE = Rule("TSC107", "unknown-resource", Severity.ERROR, "a reference names nothing that is declared")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference to an unknown name, with the nearest known one."""
    for found in references(program):
        if found.name in found.choices:
            continue
        near = closest(found.name, list(found.choices))
        yield Finding(
            RULE.name,
            f"no {found.wanted} is called `{found.name}`",
            Place(found.route),
            help=f"did you mean `{near}`"
            if near
            else f"declare it, or name one of: {_list(list(found.choices))}",
        )


def _list(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:6])
    return (shown or "none is declared") + (", ..." if len(names) > 6 else "")
