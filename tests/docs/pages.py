"""The pages of docs/ as the tests read them: fenced blocks, tables behind a marker, inline code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tsc.check import Report, check_reading
from tsc.source import parse
from tsc.spec.overrides import Overrides

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^<!-- ([^\n]*?) -->\n((?:\|[^\n]*\n)+)", re.MULTILINE)
_FENCED = re.compile(r"^<!-- ([^\n]*?) -->\n```[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")
CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its info string, its text, and the line of the page on which the text begins."""

    info: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table behind a marker: the names of its columns, and a list of cells a row."""

    marker: str
    head: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> int | None:
        """The index of a column, None if there is none of the name."""
        return self.head.index(name) if name in self.head else None


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name: str, info: str) -> list[Block]:
    """The blocks of a page with an info string."""
    text = page(name)
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in _FENCE.finditer(text)
        if found[1] == info
    ]


def tables(name: str) -> list[Table]:
    """The tables of a page that stand behind a marker."""
    return [_table(found[1], found[2]) for found in _MARKER.finditer(page(name))]


def table(name: str, marker: str) -> Table:
    """The one table behind a marker."""
    (found,) = (one for one in tables(name) if one.marker == marker)
    return found


def listing(name: str, marker: str) -> str:
    """The text of the block behind a marker."""
    (found,) = (one[2] for one in _FENCED.finditer(page(name)) if one[1] == marker)
    return str(found)


def _table(marker: str, text: str) -> Table:
    head, _, *rows = ([cell.strip() for cell in _CELL.split(line)[1:-1]] for line in text.splitlines())
    return Table(marker, head, rows)


def inline(name: str) -> Iterator[str]:
    """The inline code of a page, blocks left out."""
    yield from CODE.findall(_FENCE.sub("", page(name)))


def checked(text: str, language: str, overrides: Overrides | None = None) -> Report:
    """What the check says about a spec in a page."""
    return check_reading(parse(text, f"page.tsc.{language}", language), overrides or Overrides())


def lines(report: Report) -> list[str]:
    """Each diagnostic as one line."""
    return [f"{it.span.start.line}: {it.code} {it.name}: {it.message}" for it in report.diagnostics]
