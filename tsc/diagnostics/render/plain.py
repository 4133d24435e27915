"""What the renderers of text share: names of rules, safe characters, and the count at the end."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from tsc.diagnostics.model import Diagnostic, Severity

ORDER = (Severity.ERROR, Severity.WARNING, Severity.ADVICE)
"""From the worst to the mildest."""


def title(diagnostic: Diagnostic) -> str:
    """Give the rule of a diagnostic, `TSC002[duplicate-key]`."""
    return f"{diagnostic.code}[{diagnostic.name}]"


def place(diagnostic: Diagnostic) -> str:
    """Give the place of a diagnostic, `specs/gemm.tsc.yaml:12:5`."""
    start = diagnostic.span.start
    return f"{clean(diagnostic.file)}:{start.line}:{start.column}"


def clean(text: str) -> str:
    """Write out the characters that would move a terminal's cursor or turn its text around."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _harmless(character) else _written(character) for character in text)


def tally(diagnostics: Sequence[Diagnostic]) -> str:
    """Count diagnostics by severity, `2 errors, 1 warning`; empty for none."""
    found = Counter(diagnostic.severity for diagnostic in diagnostics)
    return ", ".join(plural(found[severity], severity) for severity in ORDER if found[severity])


def plural(count: int, noun: str) -> str:
    """Give a count with its noun, `1 error`, `1,200 errors`; advice has no plural."""
    return f"{count:,} {noun}{'' if count == 1 or noun == Severity.ADVICE else 's'}"


def _harmless(character: str) -> bool:
    category = unicodedata.category(character)
    return not category.startswith("C") and category not in ("Zl", "Zp")


def _written(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    code = ord(character)
    return named or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
