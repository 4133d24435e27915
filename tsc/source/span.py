"""Places in a text: one position, and the stretch between two of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: `line` and `column` count from one, in code points; `offset` counts from zero."""

    line: int
    column: int
    offset: int


@dataclass(frozen=True, slots=True)
class Span:
    """The text from `start` up to, not including, `end`."""

    start: Position
    end: Position
