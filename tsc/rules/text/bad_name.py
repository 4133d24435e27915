"""A name is reserved, a keyword of C++ or Python, or no identifier.

What it does
    Looks at every declared name: letters, digits and `_`, not beginning with a digit, and none of the
    words of the expression language, of C++ or of Python.

Why is this bad
    Names go into expressions and into the generated source; one that means something there already
    would mean two things.

Example
    part: {kind: smem, dtype: f32, shape: [64]}

Use instead
    partial: {kind: smem, dtype: f32, shape: [64]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC015", "bad-name", Severity.ERROR, "a name that is reserved, a keyword or no identifier")
