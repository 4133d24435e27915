"""A first look over TOML text: its comments, and whether it is within limits that a parser can bear."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tsc.diagnostics.model import Finding
from tsc.source import limits
from tsc.source.lines import Lines
from tsc.source.tree import Range

_TOKEN = re.compile(
    r'''(?P<string>"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}|'{3}(?:[^']++|'(?!''))*+'{3,5}'''
    r"""|"(?!"")(?:[^"\\\r\n]++|\\[^\r\n])*+"|'(?!'')[^'\r\n]*+')"""
    r"""|(?P<comment>\#[^\r\n]*+)|(?P<break>(?:\r\n|\n|\r)++)|(?P<word>[A-Za-z0-9_+-]++)"""
    r"""|(?P<blank>[ \t]++)|(?P<other>.)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Scan:
    """What the look over a text found; `open_quote` is the offset of a string that never ends."""

    comments: tuple[Range, ...]
    open_quote: int | None = None
    finding: Finding | None = None


def scan(lines: Lines) -> Scan:
    """Look over the text of `lines` up to its end, a limit or a string that never ends."""
    comments: list[Range] = []
    depth = dots = values = 0
    header, fresh = False, True
    for match in _TOKEN.finditer(lines.text):
        kind, text, at = match.lastgroup, match[0], match.start()
        if kind == "comment":
            comments.append((at, match.end()))
        elif kind == "break":
            if header:
                header, depth = False, 0
            fresh, dots = depth == 0, 0
        elif kind == "word":
            fresh = False
            if len(text) > limits.MAX_DIGITS and text.lstrip("+-").replace("_", "").isdigit():
                span = lines.span(at, match.end())
                return Scan(tuple(comments), finding=limits.too_many_digits(text, span))
        elif kind == "other":
            if text in "\"'":
                return Scan(tuple(comments), open_quote=at)
            if text == ".":
                dots += 1
            else:
                dots = 0
            if text in "[{":
                header = header or (fresh and text == "[")
                depth += 1
            elif text in "]}":
                depth = max(0, depth - 1)
            fresh = False
            values += text in "=,[{."
            if depth > limits.MAX_LEVELS or dots > limits.MAX_LEVELS:
                return Scan(tuple(comments), finding=limits.too_deep(lines.span(at, at + 1)))
            if values > limits.MAX_VALUES:
                return Scan(tuple(comments), finding=limits.too_many_values(lines.span(at, at + 1)))
        elif kind == "string":
            fresh = False
    return Scan(tuple(comments))
