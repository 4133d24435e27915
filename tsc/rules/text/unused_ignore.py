"""A comment that silences diagnostics has none to silence.

What it does
    Looks at each `# tsc: ignore[...]` and `# tsc: ignore-file[...]`: one whose rule says nothing
    there, that names no rule, or that is not closed.

Why is this bad
    It will hide the next problem of its place, which nobody has looked at.

Example
    warps: 4   # tsc: ignore[unknown-name]

Use instead
    warps: 4
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC007", "unused-ignore", Severity.WARNING, "a comment that silences a rule silences nothing")
