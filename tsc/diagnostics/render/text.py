"""Diagnostics for people: a sentence, the lines it is about with the places marked, and the edit to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsc.diagnostics.model import Diagnostic, Rule, Severity
from tsc.diagnostics.render.excerpt import excerpt
from tsc.diagnostics.render.paint import Paint
from tsc.diagnostics.render.plain import clean, place, plural, tally, title
from tsc.source.lines import Lines

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.ADVICE: "cyan"}


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    rules: Sequence[Rule],
    *,
    color: bool = False,
) -> str:
    """Give a paragraph a diagnostic and a count at the end, with ANSI colours if `color`."""
    paint = Paint(color)
    lines = {name: Lines(text) for name, text in sources.items()}
    empty = Lines("")
    parts = [_paragraph(each, lines.get(each.file, empty), paint) + "\n" for each in diagnostics]
    counted = tally(diagnostics)
    files = plural(len({each.file for each in diagnostics} if counted else sources), "file")
    return "".join(parts) + (f"{counted} in {files}\n" if counted else f"no findings in {files}\n")


def _paragraph(diagnostic: Diagnostic, lines: Lines, paint: Paint) -> str:
    color = _COLORS[diagnostic.severity]
    head = paint(f"{diagnostic.severity} {title(diagnostic)}", color, bold=True)
    shown, gutter = excerpt(diagnostic, lines, paint, color)
    margin = " " * gutter
    text = [f"{head}: {paint(clean(diagnostic.message), bold=True)}"]
    text.append(f"{margin}{paint('-->', 'blue')} {place(diagnostic)}")
    text += shown
    if diagnostic.help:
        if shown:
            text.append(f"{margin} {paint('|', 'blue')}")
        text.append(f"{margin} {paint('=', 'blue')} {paint('help:', bold=True)} {clean(diagnostic.help)}")
    return "".join(f"{line}\n" for line in text)
