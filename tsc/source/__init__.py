"""From text to plain data whose every key and value knows its line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsc.source.core_schema import unbalanced
    from tsc.source.document import Document
    from tsc.source.reader import ReadError, Reading, parse, read

__all__ = ["Document", "ReadError", "Reading", "parse", "read", "unbalanced"]

_HOMES = {
    "Document": "tsc.source.document",
    "ReadError": "tsc.source.reader",
    "Reading": "tsc.source.reader",
    "parse": "tsc.source.reader",
    "read": "tsc.source.reader",
    "unbalanced": "tsc.source.core_schema",
}


def __getattr__(name: str) -> object:
    # Lazy, because the diagnostics import the spans of this package and its readers the diagnostics.
    if name not in _HOMES:
        raise AttributeError(f"module `tsc.source` has no attribute `{name}`")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
