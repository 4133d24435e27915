"""The file is not text in UTF-8.

What it does
    Reports the first byte that is not UTF-8, and UTF-16 or UTF-32 by their mark.

Why is this bad
    Lines and columns, and the hash of the spec, are those of one encoding.

Example
    A file that an editor saved as UTF-16 or Latin-1.

Use instead
    The same file, saved as UTF-8.
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC006", "bad-encoding", Severity.ERROR, "the file is not UTF-8")
