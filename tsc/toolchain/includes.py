"""The headers that the user's own headers include, so that the compiler finds them without a search path."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tsc.toolchain.errors import ToolchainError

_INCLUDE: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def with_nested(headers: Mapping[str, str | None], folder: Path) -> dict[str, str]:
    """Add to headers, texts by their paths from `folder`, those that they include in quotes, in turn.

    A header's own includes are relative to it. One that is not there is left out, as it may come with the
    compiler. Raises ToolchainError for one that cannot be read, or for one name of two headers, which the
    compiler could not tell apart.
    """
    texts = {name: text for name, text in headers.items() if text is not None}
    places = {name: Path(os.path.realpath(folder / name)) for name in texts}
    waiting = [(name, folder / name) for name in texts]
    while waiting:
        includer, path = waiting.pop()
        for name in _INCLUDE.findall(texts[includer]):
            inner = path.parent / name
            place = Path(os.path.realpath(inner))
            if name in texts:
                if places[name] != place and place.is_file():
                    raise ToolchainError(
                        f"`{name}` is the name of two headers, `{places[name]}` and `{place}`"
                    )
            elif place.is_file():
                texts[name], places[name] = _read(place), place
                waiting.append((name, inner))
    return dict(sorted(texts.items()))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ToolchainError(f"the header `{path}` cannot be read: {reason}") from None
