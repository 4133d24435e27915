"""YAML beyond what a spec is written in.

What it does
    Reports tags, merge keys (`<<`), keys that are no strings, directives and further documents.
    Anchors and aliases are fine.

Why is this bad
    A spec is plain data with one meaning in every reader, and every value of it has one place.

Example
    defaults: &ring {kind: smem, stages: 4}
    xs: {<<: *ring, dtype: bf16, shape: [64]}

Use instead
    xs: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC003", "unsupported-yaml", Severity.ERROR, "YAML that a spec does without")
