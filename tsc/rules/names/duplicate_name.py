"""Declares one name twice.

What it does
    Checks that constants, params, workspace, lets, resources, works and tasks, which share one namespace,
    have names of their own.

Why is this bad
    A step or an expression that uses the name could mean either.

Example
    constants: {tiles: 4}
    resources:
      tiles: {kind: queue, policy: grid, axes: {m: tiles}}

Use instead
    constants: {TILES: 4}
    resources:
      tiles: {kind: queue, policy: grid, axes: {m: TILES}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.source.route import Route

RULE = Rule("TSC101", "duplicate-name", Severity.ERROR, "a name is declared twice")

SECTIONS = ("constants", "params", "workspace", "let", "resources", "work", "tasks")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each later declaration of a name; dims are declared by their use and count too."""
    first: dict[str, Route] = {name: dim.uses[0] for name, dim in program.dims.items()}
    for section in SECTIONS:
        for name in getattr(program.spec, section):
            route: Route = (section, name)
            if name in first:
                other = (
                    "a dim, by its use in a shape"
                    if name in program.dims
                    else f"a name of `{first[name][0]}`"
                )
                yield Finding(
                    RULE.name,
                    f"`{name}` is declared here and is already {other}",
                    Place(route, "key"),
                    (
                        Place(
                            first[name],
                            "value" if name in program.dims else "key",
                            label="declared here first",
                        ),
                    ),
                    help=f"rename one of the two, for instance to `{name}_{section.rstrip('s')}`",
                )
            else:
                first[name] = route
