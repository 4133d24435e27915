"""Asserts what is false.

What it does
    Evaluates the entries of `assert` whose value is known when the kernel is built; the others are
    checked by the loader at each call.

Why is this bad
    The author relies on it.

Example
    constants: {BN: 100, EN: 32}
    assert: [BN % EN == 0]

Use instead
    constants: {BN: 128, EN: 32}
    assert: [BN % EN == 0]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC530", "assertion-fails", Severity.ERROR, "an assertion is false")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each assertion that is false when built."""
    for i, expr in enumerate(program.spec.assert_):
        value = program.values.value(expr, ("assert", i))
        if value is not None and not value:
            given = sorted({name.text for name in expr.names if name.text in program.constants})
            shown = ", ".join(f"{name} = {program.constants[name]}" for name in given)
            yield Finding(
                RULE.name,
                f"`{expr.text}` is false" + (f" with {shown}" if shown else ""),
                Place(("assert", i)),
                help="change the constants, or the assertion",
            )
