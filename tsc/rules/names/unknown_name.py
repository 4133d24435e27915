"""Uses a name in an expression that nothing declares.

What it does
    Looks every name of every expression up: constants, dims, lets, params, tokens, loop variables, and
    the names that the language itself knows.

Why is this bad
    The expression has no value.

Example
    constants: {STAGES: 4}
    resources:
      ring: {kind: smem, stages: STAGE, dtype: bf16, shape: [64]}

Use instead
    constants: {STAGES: 4}
    resources:
      ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Name, closest, did_you_mean
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.program.names import everywhere
from tsc.program.scope import Site
from tsc.rules.memo import per_program
from tsc.rules.names.references import unresolved

RULE = Rule("TSC102", "unknown-name", Severity.ERROR, "an expression uses a name that nothing declares")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name that is known nowhere, with all its uses."""
    alike: dict[str, list[tuple[Site, Name]]] = {}
    for site, name in unknown(program):
        if name.text.startswith("tile.") and program.queue is None and any(unresolved(program)):
            continue  # the queue itself is what is not there
        alike.setdefault(name.text, []).append((site, name))
    for text, uses in alike.items():
        first, *others = (Place(site.route, within=(name.start, name.end)) for site, name in uses)
        message, help = _said(program, uses[0][0], text)
        also = tuple(replace(place, label="and here") for place in others if place.route != first.route)
        yield Finding(RULE.name, message, first, also[:3], help)


@per_program
def unknown(program: Program) -> tuple[tuple[Site, Name], ...]:
    """Return the names of expressions that no place of the spec knows."""
    scopes = {id(site.scope): site.scope for site in program.sites}.values()
    known = {*everywhere(program.spec), *program.spec.let, *(name for scope in scopes for name in scope)}
    return tuple((site, name) for site in program.sites for name in site.expr.names if name.text not in known)


def _said(program: Program, site: Site, name: str) -> tuple[str, str]:
    spec, (owner, _, axis) = program.spec, name.partition(".")
    kind = f"a resource of kind `{spec.resources[name].kind}`" if name in spec.resources else ""
    kind = kind or ("a work" if name in spec.work else "a task" if name in spec.tasks else "")
    if kind:
        return f"`{name}` has no value: it is {kind}", "name a constant, a dim, a scalar param or a let"
    if axis and owner in ("tile", "cluster"):
        where = "the queue" if owner == "tile" else "the cluster"
        tiles = [a for a, _ in program.queue.axes] if program.queue is not None else []
        axes = tiles if owner == "tile" else [a for a, _ in program.cluster]
        there = (
            f"axes {listing(axes)}" if len(axes) > 1 else f"axis {listing(axes)} only" if axes else "no axes"
        )
        near = closest(axis, axes)
        none = owner == "cluster" and not axes
        mend = (
            f"write `launch: {{cluster: {{{axis}: 2}}}}`" if none else f"add `{axis}` to the axes of {where}"
        )
        return (
            f"nothing declares `{name}`; {where} has {'the ' if axes else ''}{there}",
            f"did you mean `{owner}.{near}`?" if near else mend,
        )
    if target := re.fullmatch(r"sm_(\d+)[af]?", name):
        return f"nothing declares `{name}`", f"write `{target[1]}`: a target is a number in expressions"
    near = did_you_mean(name, [*site.scope, *everywhere(spec)])
    return f"nothing declares `{name}`", near or "declare it under `constants` or `let`"
