"""A bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 24
APART = 0.1
"""Seconds between two drawings."""


class Progress:
    """Draws `checking [####    ] 12 of 48  3 left out`, over itself."""

    def __init__(self, doing: str, total: int, stream: TextIO | None = None) -> None:
        self._doing = doing
        self._total = max(total, 1)
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._last = 0.0
        self._length = 0
        self.done = 0

    def step(self, note: str = "", *, count: int = 1) -> None:
        """Say that so many more are done; `note` is shown behind the count."""
        self.done += count
        now = time.monotonic()
        if self._shown and (now - self._last >= APART or self.done >= self._total):
            self._last = now
            filled = min(WIDTH, WIDTH * self.done // self._total)
            bar = "#" * filled + " " * (WIDTH - filled)
            self._draw(f"{self._doing} [{bar}] {self.done:,} of {self._total:,}  {note}".rstrip())

    def end(self) -> None:
        """Leave the line free."""
        if self._shown:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)
