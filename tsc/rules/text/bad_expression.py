"""An expression does not follow the expression language.

What it does
    Reads every expression: integers, names, `+ - * // %`, comparisons, `and or not`, `x if c else y`,
    and the functions `cdiv`, `align`, `min`, `max`, `abs` and `find`. It points at the characters at
    fault.

Why is this bad
    An expression is evaluated by the check, the generated kernel and the loader, which must agree on
    its value.

Example
    - domain_loop: k / 64
      body: [{wait: ab}, {release: ab}]

Use instead
    - domain_loop: cdiv(k, 64)
      body: [{wait: ab}, {release: ab}]
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC014", "bad-expression", Severity.ERROR, "an expression that cannot be read")
