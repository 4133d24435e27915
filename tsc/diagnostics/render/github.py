"""Annotations of a GitHub workflow. GitHub shows ten a step, so the worst come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsc.diagnostics.model import Diagnostic, Rule, Severity
from tsc.diagnostics.render.concise import line
from tsc.diagnostics.render.plain import ORDER, clean, plural, title

SHOWN = 10

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def render(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], rules: Sequence[Rule]) -> str:
    """Give an annotation for each of the ten worst diagnostics, and the rest as lines of the log."""
    worst = sorted(diagnostics, key=lambda diagnostic: ORDER.index(diagnostic.severity))
    lines = [_annotation(diagnostic) for diagnostic in worst[:SHOWN]]
    hidden = worst[SHOWN:]
    if hidden:
        counted = (
            f"{plural(len(hidden), 'more finding')} without an annotation, as GitHub shows {SHOWN} a step"
        )
        lines += [f"{counted}:", *(line(diagnostic) for diagnostic in hidden)]
    return "".join(f"{text}\n" for text in lines)


def _annotation(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.span.start, diagnostic.span.end
    properties: dict[str, object] = {"file": diagnostic.file, "line": start.line, "endLine": end.line}
    if start.line == end.line:  # GitHub takes columns for a range within one line alone
        properties |= {"col": start.column, "endColumn": max(end.column, start.column + 1)}
    properties["title"] = title(diagnostic)
    message = clean(diagnostic.message) + (f"\nhelp: {clean(diagnostic.help)}" if diagnostic.help else "")
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
