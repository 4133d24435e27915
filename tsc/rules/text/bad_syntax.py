"""The text is not well-formed YAML or TOML.

What it does
    Reports the first place at which the text cannot be read, with what the reader expected there.

Why is this bad
    Nothing else about the spec can be known before its text can be read.

Example
    shape: [m, n

Use instead
    shape: [m, n]
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC001", "bad-syntax", Severity.ERROR, "the text is not YAML or TOML")
