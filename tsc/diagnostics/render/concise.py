"""One line a diagnostic, `path:line:column: CODE[name] message`, for editors and for grep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsc.diagnostics.model import Diagnostic, Rule
from tsc.diagnostics.render.plain import clean, place, title


def render(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], rules: Sequence[Rule]) -> str:
    """Give one line a diagnostic; nothing for none."""
    return "".join(f"{line(diagnostic)}\n" for diagnostic in diagnostics)


def line(diagnostic: Diagnostic) -> str:
    """Give the line of one diagnostic."""
    return f"{place(diagnostic)}: {title(diagnostic)} {clean(diagnostic.message)}"
