"""The lines of a text that a diagnostic is about, its places underlined and labelled."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tsc.diagnostics.model import Diagnostic
from tsc.diagnostics.render.paint import Paint
from tsc.diagnostics.render.plain import clean
from tsc.source.lines import Lines
from tsc.source.span import Span

WIDTH = 100
"""Cells of a line that are shown; a longer one is cut around its first place."""

_LEAD = 30
_TAB = 4
_CUT = "..."


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place on one line, in cells of the terminal."""

    start: int
    end: int
    text: str
    primary: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it is shown, and the cell at which each of its code points starts (one more for the end)."""

    text: str
    cells: list[int]


def excerpt(diagnostic: Diagnostic, lines: Lines, paint: Paint, color: str) -> tuple[list[str], int]:
    """Give the lines to print, and the width of the column of line numbers.

    A place over several lines is marked on its first one. Nothing is shown for lines that `lines` has not.
    """
    places = [(diagnostic.span, diagnostic.label, True)]
    places += [(label.span, label.text, False) for label in diagnostic.related]
    by_line: dict[int, list[tuple[Span, str, bool]]] = {}
    for span, text, primary in places:
        if span.start.line <= len(lines) and lines.text:
            by_line.setdefault(span.start.line, []).append((span, clean(text), primary))
    gutter = len(str(max(by_line, default=1)))
    bar = paint("|", "blue")
    margin = " " * gutter
    shown = [f"{margin} {bar}"] if by_line else []
    last = 0
    for number in sorted(by_line):
        if last and number == last + 2:
            between = _fit(_cells(lines.line(last + 1)), 0)[0]
            shown.append(f"{paint(str(last + 1).rjust(gutter), 'blue')} {bar} {between}".rstrip())
        elif last and number > last + 2:
            shown.append(paint("...", "blue"))
        text, marks = _marked(lines, number, by_line[number])
        shown.append(f"{paint(str(number).rjust(gutter), 'blue')} {bar} {text}".rstrip())
        shown += [f"{margin} {bar} {row}" for row in _rows(marks, paint, color)]
        last = number
    return shown, gutter


def _marked(lines: Lines, number: int, places: list[tuple[Span, str, bool]]) -> tuple[str, list[_Mark]]:
    line = _cells(lines.line(number))
    columns = len(line.cells) - 1
    marks = []
    for span, text, primary in places:
        first = min(span.start.column - 1, columns)
        last = columns if span.end.line > number else min(span.end.column - 1, columns)
        start = line.cells[first]
        marks.append(_Mark(start, max(line.cells[max(last, first)], start + 1), text, primary))
    anchor = next((mark for mark in marks if mark.primary), marks[0])
    shown, moved = _fit(line, anchor.start)
    limit = WIDTH + len(_CUT)
    placed = []
    for mark in marks:
        start = min(max(mark.start - moved, 0), limit)
        end = max(min(mark.end - moved, limit), start + 1)
        placed.append(_Mark(start, end, mark.text, mark.primary))
    return shown, placed


def _fit(line: _Line, anchor: int) -> tuple[str, int]:
    """Cut a line to the width around a cell; give it with how far its cells moved to the left."""
    total = line.cells[-1]
    if total <= WIDTH:
        return line.text, 0
    left = max(0, min(anchor - _LEAD, total - WIDTH))
    left = left if left > len(_CUT) else 0
    first = next(index for index, cell in enumerate(line.cells) if cell >= left)
    end = line.cells[first] + WIDTH
    last = max(index for index, cell in enumerate(line.cells) if cell <= end)
    before, after = (_CUT if first else ""), (_CUT if last < len(line.cells) - 1 else "")
    return before + line.text[first:last] + after, line.cells[first] - len(before)


def _cells(text: str) -> _Line:
    cells, shown, at = [], [], 0
    for character in text:
        cells.append(at)
        if character == "\t":
            width = _TAB - at % _TAB
            character = " " * width
        else:
            category = unicodedata.category(character)
            if category in ("Mn", "Me") or character in "\u200b\u200c\u200d\ufe0f":
                width = 0
            elif category.startswith("C") or category in ("Zl", "Zp"):
                width, character = 1, "\ufffd"
            else:
                width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        shown.append(character)
        at += width
    cells.append(at)
    return _Line("".join(shown), cells)


def _rows(marks: list[_Mark], paint: Paint, color: str) -> list[str]:
    """Give the underlines, then the labels: the rightmost beside its underline, the others hang below."""
    signs: dict[int, bool] = {}
    for mark in sorted(marks, key=lambda mark: mark.primary):
        signs |= dict.fromkeys(range(mark.start, mark.end), mark.primary)
    underline = _row({at: "^" if primary else "-" for at, primary in signs.items()}, signs, paint, color)
    labelled = sorted((mark for mark in marks if mark.text), key=lambda mark: (mark.start, mark.primary))
    if not labelled:
        return [underline]
    beside = labelled.pop()
    if (labelled and labelled[-1].start == beside.start) or any(mark.start > beside.start for mark in marks):
        rows, labelled = [underline], [*labelled, beside]
    else:
        rows = [f"{underline} {paint(beside.text, color if beside.primary else 'blue')}"]
    stems = {mark.start: mark.primary for mark in labelled}
    if stems:
        rows.append(_row(dict.fromkeys(stems, "|"), stems, paint, color))
    while labelled:
        mark = labelled.pop()
        left = {at: primary for at, primary in stems.items() if at < mark.start}
        before = _row(dict.fromkeys(left, "|"), left, paint, color, mark.start)
        rows.append(before + paint(mark.text, color if mark.primary else "blue"))
    return rows


def _row(signs: dict[int, str], primary: dict[int, bool], paint: Paint, color: str, width: int = 0) -> str:
    runs: list[tuple[str, bool | None]] = []
    for at in range(max(max(signs, default=-1) + 1, width)):
        sign, kind = signs.get(at, " "), primary.get(at) if at in signs else None
        if runs and runs[-1][1] is kind:
            runs[-1] = (runs[-1][0] + sign, kind)
        else:
            runs.append((sign, kind))
    colors = {True: color, False: "blue", None: ""}
    return "".join(paint(text, colors[kind]) for text, kind in runs)
