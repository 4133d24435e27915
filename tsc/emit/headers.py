"""The device headers: which one declares a name, and their texts in the order of inclusion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tsc.resources import folder

_INCLUDE = re.compile(r'#include "([^"]+)"')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TOKEN = re.compile(r"[A-Za-z_]\w*|[{}()<>;=]")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Header:
    """A device header: its text, the headers it includes, and the names it declares for everybody."""

    name: str
    text: str
    includes: tuple[str, ...]
    declares: frozenset[str]


@cache
def headers() -> dict[str, Header]:
    """Read all device headers, by file name."""
    found = {}
    for path in sorted((folder("codegen") / "include").glob("*.cuh")):
        text = path.read_text(encoding="utf-8")
        found[path.name] = Header(path.name, text, tuple(_INCLUDE.findall(text)), frozenset(declared(text)))
    return found


def declared(text: str) -> Iterator[str]:
    """Yield what a header declares outside of braces and parentheses: functions, types, enumerators and
    macros.
    """
    text = text.replace("\\\n", " ")
    gone = set(re.findall(r"^\s*#undef (\w+)", text, re.M))
    yield from (name for name in re.findall(r"^\s*#define (\w+)", text, re.M) if name not in gone)
    text = re.sub(r"^\s*#[^\n]*", "", _STRING.sub("", _COMMENT.sub("", text)), flags=re.M)
    tokens = _TOKEN.findall(text)
    depth = angles = 0
    enumerates = False
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if token == "enum" and depth == 0:
            enumerates = True
        elif token in "{(":
            # The enumerators of an enum outside of everything are as global as its name would be.
            depth += not (enumerates and token == "{")
        elif token in "})":
            depth = max(0, depth - 1)
            enumerates = False
        elif token in "<>" and depth == 0:
            angles = max(0, angles + (1 if token == "<" else -1))
        elif token == ";":
            angles, enumerates = 0, False
        elif depth or angles or token in _BORROWED or not _WORD.match(token):
            continue
        elif (
            enumerates
            or before in ("struct", "using")
            or after in ("(", "=")
            or (before, after) == (")", "{")
        ):
            yield token


# Words that are followed by a parenthesis and yet are no function.
_BORROWED = frozenset(
    ["requires", "static_assert", "alignas", "asm", "decltype", "struct", "using", "enum", "int"]
)


@cache
def _owners() -> dict[str, str]:
    owners: dict[str, str] = {}
    for header in headers().values():
        for name in header.declares:
            owners.setdefault(name, header.name)
    return owners


@cache
def global_names() -> frozenset[str]:
    """Return every name that some header declares."""
    return frozenset(_owners())


def needed(text: str) -> tuple[Header, ...]:
    """Return the headers that a text needs, included ones first."""
    words = set(_WORD.findall(_STRING.sub("", _COMMENT.sub("", text))))
    owners = _owners()
    roots = {owners[word] for word in words if word in owners}
    ordered: dict[str, Header] = {}

    def visit(name: str) -> None:
        if name in ordered:
            return
        header = headers()[name]
        for inner in header.includes:
            visit(inner)
        ordered[name] = header

    for name in sorted(roots):
        visit(name)
    return tuple(ordered.values())


def body(header: Header) -> str:
    """Return a header's text without its includes and without `#pragma once`, for a file that holds all of
    them.
    """
    lines = [
        line
        for line in header.text.splitlines()
        if not _INCLUDE.match(line) and line.strip() != "#pragma once"
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
