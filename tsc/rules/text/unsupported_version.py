"""The spec is of another version of the language.

What it does
    Compares `tsc` with the version that this tool reads, which is 1.

Why is this bad
    A later version may mean something else by the same words.

Example
    tsc: 2

Use instead
    tsc: 1
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC019", "unsupported-version", Severity.ERROR, "a version of the language that this tsc cannot read"
)
