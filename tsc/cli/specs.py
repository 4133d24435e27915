"""From the specs named in a call to checked programs, for every command that takes a spec."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tsc.cli.exits import fail

if TYPE_CHECKING:
    from tsc.spec.overrides import Overrides

SUFFIXES = (".tsc.yaml", ".tsc.toml")


def expand(paths: list[str]) -> Iterator[str]:
    """The specs that paths stand for, each once: a file is itself, a folder every spec below it, in order.

    Raises OSError for a folder that cannot be read, FileNotFoundError for one without a spec.
    """
    seen = set()
    for path in paths:
        for spec in _below(path) if Path(path).is_dir() else [path]:
            if spec not in seen:
                seen.add(spec)
                yield spec


def _below(folder: str) -> list[str]:
    def refuse(error: OSError) -> None:
        raise error

    found = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [str(Path(place, name)) for name in sorted(files) if name.endswith(SUFFIXES)]
    if not found:
        raise FileNotFoundError(f"`{folder}` has no `*.tsc.yaml` or `*.tsc.toml` in it")
    return found


def overrides(defines: list[str] | None, settings: list[str] | None) -> Overrides:
    """What -D and --set change in a spec."""
    from tsc.spec.overrides import UsageError, parse_overrides

    try:
        return parse_overrides(defines or [], settings or [])
    except UsageError as error:
        fail(str(error))
