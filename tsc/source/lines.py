"""Where the lines of a text begin, so that an offset becomes a line and a column."""

from __future__ import annotations

import re
from bisect import bisect_right

from tsc.source.span import Position, Span

_BREAK = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of `text`. Only LF, CRLF and CR break a line, as in YAML 1.2 and in editors."""

    __slots__ = ("starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def __len__(self) -> int:
        return len(self.starts)

    def number(self, offset: int) -> int:
        """Give the one-based line that holds `offset`."""
        return bisect_right(self.starts, offset)

    def position(self, offset: int) -> Position:
        """Give the position of `offset`, which is cut to the text."""
        offset = max(0, min(offset, len(self.text)))
        line = self.number(offset)
        return Position(line, offset - self.starts[line - 1] + 1, offset)

    def span(self, start: int, end: int) -> Span:
        """Give the span from offset `start` up to offset `end`."""
        return Span(self.position(start), self.position(max(start, end)))

    def offset(self, line: int, column: int) -> int:
        """Give the offset of a one-based line and column, cut to the text."""
        line = max(1, min(line, len(self.starts)))
        return min(self.starts[line - 1] + max(column, 1) - 1, len(self.text))

    def line(self, number: int) -> str:
        """Give the one-based line `number` without its break; empty past the end."""
        if not 1 <= number <= len(self.starts):
            return ""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r\n")
