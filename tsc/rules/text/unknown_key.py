"""A mapping has a key that the language does not know there.

What it does
    Compares the keys of each mapping with those that a thing of its kind has. For a step these are
    its options.

Why is this bad
    A misspelt key would be ignored, and its default taken in silence.

Example
    - {commit: ring, kep: 1}

Use instead
    - {commit: ring, keep: 1}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC010", "unknown-key", Severity.ERROR, "a key that the language does not know there")
