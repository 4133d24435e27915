"""The input is larger than any spec.

What it does
    Stops at 4 MiB of text, 200,000 values with aliases written out, 64 levels of nesting, and numbers
    beyond 64 bits.

Why is this bad
    A check has to end in bounded time and memory, also for a file that was made to prevent that.

Example
    a: &a [x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
    c: [*b, *b, *b, *b, *b, *b, *b, *b, *b]      # and so on

Use instead
    Let `repeat`, `for` or `replicas` make what is many times the same.
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC004", "input-too-large", Severity.ERROR, "a text, nest, number or alias beyond the limits")
