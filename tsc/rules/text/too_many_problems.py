"""The spec has more problems than are shown.

What it does
    Ends the list of problems of the text after 100, and says how many are left.

Why is this bad
    A list that nobody reads hides its beginning. Most long lists have few causes.

Example
    A generated spec that names a wrong key in each of 300 steps, in 300 ways.

Use instead
    The same spec, after its first problems are mended.
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC024", "too-many-problems", Severity.ERROR, "more problems than are shown")
