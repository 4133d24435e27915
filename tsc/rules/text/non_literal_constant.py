"""A constant is an expression.

What it does
    Looks for constants that are texts. A constant is an integer, `true` or `false`.

Why is this bad
    Constants are what `-D` sets and `tsc tune` tries; what follows from them is a `let`, and is known
    at build too.

Example
    constants: {BK: 64, HALF: BK // 2}

Use instead
    constants: {BK: 64}
    let: {HALF: BK // 2}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC022", "non-literal-constant", Severity.ERROR, "a constant that is an expression")
