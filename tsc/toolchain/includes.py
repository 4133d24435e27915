"""The user's own headers as texts, so that the compiler finds them without a search path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tsc.toolchain.errors import ToolchainError

_INCLUDE: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Read headers, and those that they include in quotes in turn, by the names that they are included by.

    A name is relative to `folder`, in a header to its own. One that is not there is left out, as it may come
    with the compiler. Raises ToolchainError for a header that cannot be read, or for one name of two headers,
    which the compiler could not tell apart.
    """
    found: dict[str, Path] = {}
    texts: dict[str, str] = {}
    waiting = [(name, folder / name) for name in names]
    while waiting:
        name, path = waiting.pop()
        place = Path(os.path.realpath(path))
        if found.get(name, place) != place:
            raise ToolchainError(
                f"`{name}` is included as two headers, `{found[name]}` and `{place}`: rename one"
            )
        if name in found or not place.is_file():
            continue
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ToolchainError(f"the header `{path}` cannot be read: {reason}") from None
        found[name], texts[name] = place, text
        waiting += [(inner, path.parent / inner) for inner in _INCLUDE.findall(text)]
    return dict(sorted(texts.items()))
