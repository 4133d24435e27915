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
from tsc.expr import closest
from tsc.program.model import Program
from tsc.program.names import everywhere

RULE = Rule("TSC102", "unknown-name", Severity.ERROR, "an expression uses a name that nothing declares")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each use of a name that is known nowhere."""
    known = set(everywhere(program.spec)) | set(program.spec.let)
    for site in program.sites:
        for name in site.expr.names:
            if name.text in site.scope or name.text in known or _local(program, name.text):
                continue
            near = closest(name.text, [*site.scope, *known])
            yield Finding(
                RULE.name,
                f"nothing declares `{name.text}`" + _kind(program, name.text),
                Place(site.route, within=(name.start, name.end)),
                help=f"did you mean `{near}`" if near else "declare it under `constants` or `let`",
            )


def _local(program: Program, name: str) -> bool:
    """Whether it is a token or loop variable of some task: known, but not here."""
    return any(name in site.scope for site in program.sites)


def _kind(program: Program, name: str) -> str:
    if name in program.spec.resources:
        return f" that has a value; it is a resource of kind `{program.spec.resources[name].kind}`"
    if name in program.spec.work or name in program.spec.tasks:
        return " that has a value; it is a " + ("work" if name in program.spec.work else "task")
    return ""
