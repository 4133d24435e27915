"""A resource, or the order of a queue, has no `kind` that is known.

What it does
    Looks at the `kind` of each resource: `smem`, `tmem`, `registers`, `signal`, `merge`, `fork`,
    `queue`, `turn` or `barrier`; and of a queue's order.

Why is this bad
    The kind decides which keys there are and what the steps on the resource mean.

Example
    ring: {stages: 4, dtype: bf16, shape: [64]}

Use instead
    ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC018", "unknown-kind", Severity.ERROR, "a resource or order without a known `kind`")
