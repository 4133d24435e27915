"""YAML cut an expression at its comma.

What it does
    Looks for values with an open bracket that the next entries or keys of the same `[...]` or `{...}`
    close.

Why is this bad
    Inside `[...]` and `{...}` YAML itself reads the commas: `[cdiv(h, TH), 0]` has the three entries
    `cdiv(h`, `TH)` and `0`.

Example
    - {tma_load: x, at: [cdiv(h, TH), 0], to: ring}

Use instead
    - {tma_load: x, at: ['cdiv(h, TH)', 0], to: ring}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC021", "cut-expression", Severity.ERROR, "an expression that YAML cut at a comma")
