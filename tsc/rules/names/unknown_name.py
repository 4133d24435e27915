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

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Name, did_you_mean
from tsc.program.model import Program
from tsc.program.names import everywhere
from tsc.program.scope import Site

RULE = Rule("TSC102", "unknown-name", Severity.ERROR, "an expression uses a name that nothing declares")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each use of a name that is known nowhere."""
    for site, name in unknown(program):
        yield Finding(
            RULE.name,
            f"nothing declares `{name.text}`" + _kind(program, name.text),
            Place(site.route, within=(name.start, name.end)),
            help=did_you_mean(name.text, [*site.scope, *everywhere(program.spec)]) or _else(name.text),
        )


def unknown(program: Program) -> Iterator[tuple[Site, Name]]:
    """Yield the names of expressions that no place of the spec knows."""
    known = {*everywhere(program.spec), *program.spec.let, *(n for site in program.sites for n in site.scope)}
    for site in program.sites:
        for name in site.expr.names:
            if name.text not in known:
                yield site, name


def _kind(program: Program, name: str) -> str:
    if name in program.spec.resources:
        return f" that has a value; it is a resource of kind `{program.spec.resources[name].kind}`"
    if name in program.spec.work or name in program.spec.tasks:
        return " that has a value; it is a " + ("work" if name in program.spec.work else "task")
    if name.startswith("tile."):
        axes = [f"`{axis}`" for axis, _ in program.queue.axes] if program.queue is not None else []
        return "; the axes of the queue are " + ", ".join(axes) if axes else "; there is no queue"
    return ""


def _else(name: str) -> str:
    owner, _, axis = name.partition(".")
    if owner == "tile" and axis:
        return f"add `{axis}` to the `axes` of the queue, or name one that it has"
    if owner == "cluster" and axis:
        return f"add `{axis}` to `launch: {{cluster: ...}}`, or name an axis that it has"
    return "declare it under `constants` or `let`"
