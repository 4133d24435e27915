"""What has been done, a JSON line at a time: an interrupted search goes on where it was.

The first line says what the journal is about; a journal about something else is begun anew. A last line that
was cut off is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

Record = dict[str, Any]

JOURNAL_VERSION = 1


class Journal:
    """The records of one search, on disk as soon as they are added."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Open the journal at `path`; its records are kept if they are about the same."""
        head = {"journal": JOURNAL_VERSION, **about}
        found = _read(path)
        self.records: list[Record] = found[1:] if found[:1] == [head] else []
        self.resumed = bool(self.records)
        # Written anew: a line that was cut off would spoil the one after it.
        beside = path.with_suffix(".part")
        beside.write_text("".join(_line(it) for it in (head, *self.records)), encoding="utf-8")
        beside.replace(path)
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, record: Record) -> None:
        """Keep a record."""
        self.records.append(record)
        self._file.write(_line(record))
        self._file.flush()
        os.fsync(self._file.fileno())

    def of(self, kind: str) -> Iterator[Record]:
        """The records that have a key, in order."""
        return (record for record in list(self.records) if kind in record)


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record) + "\n"


def _read(path: Path) -> list[Record]:
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if not isinstance(record, dict):
            break
        found.append(record)
    return found
