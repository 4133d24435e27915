"""Writes a build-time expression that has no value.

What it does
    Evaluates every expression whose value is known when the kernel is built, and reports a division by
    zero or an overflow of 64 bits.

Why is this bad
    There is nothing to build with.

Example
    constants: {BN: 128, EN: 0}
    let: {parts: BN // EN}

Use instead
    constants: {BN: 128, EN: 32}
    let: {parts: BN // EN}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import EvalError, evaluate
from tsc.program.model import Program

RULE = Rule("TSC106", "expression-without-value", Severity.ERROR, "a build-time expression has no value")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each expression that fails, lets included."""
    seen = set()
    for name, expr in program.spec.let.items():
        if all(used.text in program.constants for used in expr.names):
            try:
                evaluate(expr, program.constants)
            except EvalError as error:
                seen.add(error.message)
                yield _finding(Place(("let", name), within=(error.start, error.end)), error.message)
    for failure in program.failures:
        if failure.message not in seen:
            yield _finding(Place(failure.route, within=failure.within), failure.message)


def _finding(place: Place, message: str) -> Finding:
    return Finding(
        RULE.name,
        f"the expression has no value: {message}",
        place,
        help="change the constants that it is made of",
    )
