"""Copies of a `per:` resource by their numbers in a snippet: those that are listed, each of its own type."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tsc.program.model import Work

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
"""Comments, strings and characters."""


def copies_fields(copies: Iterable[tuple[int, str]]) -> str:
    """Return the members of a struct of copies, number and type each: `name[i]` is there for these alone."""
    copies = list(copies)
    fields = [f"{type_} copy_{number};" for number, type_ in copies]
    for number, type_ in copies:
        body = f"{{ return copy_{number}; }}"
        fields.append(f"DEVICE const {type_}& operator[](CopyNumber<{number}>) const {body}")
    return "\n  ".join(fields)


def numbered(text: str, work: Work) -> str:
    """Return a snippet in which the numbers of copies are types, by which C++ tells them apart when built."""
    listed = (*work.reads, *work.writes, *work.updates)
    names = sorted({reference.name for reference in listed if reference.index is not None})
    if not names:
        return text
    index = re.compile(rf"(?<![\w.])({'|'.join(names)})(\s*)\[([^\[\]]+)\]")
    made, begin = [], 0
    for found in NO_CODE.finditer(text):
        made += [index.sub(_typed, text[begin : found.start()]), found[0]]
        begin = found.end()
    return "".join((*made, index.sub(_typed, text[begin:])))


def _typed(found: re.Match[str]) -> str:
    number = found[3].strip()
    return f"{found[1]}{found[2]}[CopyNumber<{number if number.isalnum() else f'({number})'}>()]"
