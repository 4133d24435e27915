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
from tsc.program.target import find_target, known_targets, place_of

RULE = Rule("TSC510", "unknown-target", Severity.ERROR, "`target` is no architecture that tsc knows")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each unknown architecture."""
    if find_target(program.arch) is None:
        yield Finding(
            RULE.name,
            f"`{program.arch}` is no architecture that tsc knows",
            Place(place_of(program.spec, program.arch)),
            help=f"write one of {listing(known_targets())}",
        )
