"""From a line of PTX, which the assembler names, to the lines of the source that it was made from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(?:,.*?\binlined_at\s+(\d+)\s+(\d+))?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source file, counted from one."""

    file: str
    line: int


class LineTable:
    """The `.loc` directives of PTX that was made with `-lineinfo`."""

    def __init__(self, ptx: str, shown: Callable[[str], str] = str) -> None:
        self._lines = ptx.split("\n")
        self._files = {int(match[1]): shown(_unescaped(match[2])) for match in _FILE.finditer(ptx)}

    def text(self, line: int) -> str:
        """The PTX itself, counted from one; empty outside."""
        return self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""

    def places(self, line: int) -> tuple[SourceLine, ...]:
        """Where a line of PTX comes from, the innermost place first, then whoever it was inlined into."""
        callers: dict[SourceLine, SourceLine] = {}
        place: SourceLine | None = None
        for text in self._lines[: max(line, 0)]:
            if text.startswith(("}", ".visible .entry", ".func", ".visible .func", ".entry")):
                callers, place = {}, None
            match = _LOC.match(text)
            if match is None:
                continue
            place = self._place(match[1], match[2])
            caller = self._place(match[3], match[4]) if match[3] else None
            if place and caller:
                callers[place] = caller
        chain: list[SourceLine] = []
        while place is not None and place not in chain:
            chain.append(place)
            place = callers.get(place)
        return tuple(chain)

    def _place(self, file: str, line: str) -> SourceLine | None:
        name = self._files.get(int(file))
        return SourceLine(name, int(line)) if name is not None else None


def _unescaped(text: str) -> str:
    def plain(match: re.Match[bytes]) -> bytes:
        return bytes([int(match[1], 8) & 0xFF]) if len(match[1]) == 3 else match[1]

    return _ESCAPE.sub(plain, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
