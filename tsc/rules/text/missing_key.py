"""A mapping lacks a key that it cannot do without.

What it does
    Looks for the required keys of each mapping. It points at the mapping's first key.

Why is this bad
    There is no default that would be right: the value is the author's to say.

Example
    tiles: {kind: queue, axes: {row: rows}}

Use instead
    tiles: {kind: queue, policy: static, axes: {row: rows}}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC011", "missing-key", Severity.ERROR, "a mapping lacks a key that it needs")
