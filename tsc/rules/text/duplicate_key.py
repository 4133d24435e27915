"""A mapping has the same key twice.

What it does
    Looks for keys that repeat an earlier one of their mapping.

Why is this bad
    Most readers keep the last value in silence; the other one looks as if it counted.

Example
    ring: {kind: smem, stages: 2, dtype: bf16, shape: [64], stages: 4}

Use instead
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC002", "duplicate-key", Severity.ERROR, "a mapping has a key twice")
