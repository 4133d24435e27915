"""The document is empty, a list or a single value.

What it does
    Looks at the outermost value of the document.

Why is this bad
    A spec is one mapping, with `tsc`, `kernel` and `target` among its keys.

Example
    - tsc: 1
    - kernel: scale

Use instead
    tsc: 1
    kernel: scale
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC005", "not-a-mapping", Severity.ERROR, "the spec is no mapping of keys to values")
