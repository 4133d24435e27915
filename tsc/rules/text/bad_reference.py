"""An operand is no reference to a resource, buffer or tensor.

What it does
    Reads every operand: a name, with `[index]` for a copy of a `per:` resource, `.buffer` for one of
    its buffers and `.T` for its transpose.

Why is this bad
    An operand says what a step touches; everything that is derived and proven follows from it.

Example
    - {wgmma: acc, a: ab.a.rows, b: ab.b}

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC016", "bad-reference", Severity.ERROR, "an operand that is no reference")
