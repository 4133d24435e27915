"""Names for the compiler that do not depend on the working directory.

NVRTC prefixes every relative file name in debug info with the working directory, so equal inputs would give
different bytes in different folders. Under a fixed root the names are absolute and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SOURCE_NAME: Final = "kernel.cu"
"""The generated source's own name, in `#line` directives and in messages."""

_LINE = re.compile(r'^([ \t]*#[ \t]*line[ \t]+\d+[ \t]+)"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source whose file names are all absolute, and the way back to the names as they were."""

    source: str
    headers: Mapping[str, str]
    name: str
    original: Mapping[str, str]

    def shown(self, text: str) -> str:
        """A text of the compiler's with the file names as the user knows them."""
        for name in sorted(self.original, key=len, reverse=True):
            text = text.replace(name, self.original[name])
        return text


def prepare(source: str, headers: Mapping[str, str], root: str) -> Prepared:
    """Put every file name under `root`: of the source, of the headers and of all `#line` directives."""
    original: dict[str, str] = {}

    def absolute(name: str) -> str:
        full = name if name.startswith("/") else f"{root}/{name}"
        original[full] = name
        return full

    def renamed(match: re.Match[str]) -> str:
        spelled = absolute(match[2])
        plain = _meant(match[2])
        # The log shows backslashes as spelled and quotes as meant; debug info shows both as meant.
        for variant in (spelled, spelled.replace('\\"', '"'), _meant(spelled)):
            original[variant] = plain
        return f'{match[1]}"{spelled}"'

    name = absolute(SOURCE_NAME)
    return Prepared(
        source=_LINE.sub(renamed, source),
        headers={
            header: f'#line 1 "{_spelled(absolute(header))}"\n{_LINE.sub(renamed, text)}'
            for header, text in sorted(headers.items())
        },
        name=name,
        original=original,
    )


def _meant(spelled: str) -> str:
    return re.sub(r"\\(.)", r"\1", spelled)


def _spelled(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
