"""Names an architecture that tsc does not know.

What it does
    Checks `target` against the architectures that kernels can be generated for.

Why is this bad
    Limits, instructions and the compiler's options follow from it.

Example
    target: sm_90b

Use instead
    target: sm_90a
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.program.target import find_target, known_targets

RULE = Rule("TSC510", "unknown-target", Severity.ERROR, "`target` is no architecture that tsc knows")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each unknown architecture."""
    several = isinstance(program.spec.target, tuple)
    for i, name in enumerate(program.targets):
        if find_target(name) is None:
            yield Finding(
                RULE.name,
                f"`{name}` is no architecture that tsc knows",
                Place(("target", i) if several else ("target",)),
                help=f"write one of {listing(known_targets())}",
            )
