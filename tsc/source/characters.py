"""Bytes to text, and the characters that no spec may hold."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from tsc.diagnostics.model import Finding, Place
from tsc.source.lines import Lines

Language = Literal["yaml", "toml"]

_BOM = "\ufeff"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
_FORBIDDEN = {
    "yaml": re.compile(f"[{_CONTROL}\x80-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"),
    "toml": re.compile(f"[{_CONTROL}\ud800-\udfff\ufeff]|\r(?!\n)"),
}
_BREAKS = "\x85\u2028\u2029"


def decode(data: bytes) -> tuple[str, Finding | None]:
    """Decode UTF-8; bytes that are none give the text with replacement characters, and a finding."""
    if data[:2] in _UTF16:
        text = data.decode("utf-16", errors="replace")
        place = Place((), span=Lines(text).span(0, 0))
        message = "the text is encoded as UTF-16, a spec is UTF-8"
        return text, Finding("bad-encoding", message, place, help="save the file as UTF-8")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", errors="replace")
        at = len(data[: error.start].decode("utf-8"))
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        place = Place((), span=Lines(text).span(at, at + 1))
        return text, Finding("bad-encoding", message, place, help="save the file as UTF-8")


def without_mark(text: str) -> str:
    """Take a byte order mark off the front; it is no part of the text and no column."""
    return text.removeprefix(_BOM)


def forbidden_character(lines: Lines, language: Language) -> Finding | None:
    """Find the first character that the language does not allow or that its readers do not agree on."""
    match = _FORBIDDEN[language].search(lines.text)
    if match is None:
        return None
    character = match[0]
    code = f"U+{ord(character):04X}"
    help = f"delete it; inside double quotes it can be written as `\\u{ord(character):04x}`"
    if character == "\r":
        message, help = (
            "a carriage return (U+000D) stands without a line feed",
            "end the line with LF or CRLF",
        )
    elif character == _BOM:
        message = f"a byte order mark ({code}) stands inside the text"
        help = "delete it"
    elif character in _BREAKS:
        message = f"the character {code} stands in the text, which some readers take for a line break"
    elif "\ud800" <= character <= "\udfff":
        message = f"the lone surrogate {code} stands in the text"
        help = "delete it"
    else:
        kind = "control character" if unicodedata.category(character) == "Cc" else "character"
        message = f"the {kind} {code} stands in the text"
    place = Place((), span=lines.span(match.start(), match.end()))
    return Finding("bad-encoding", message, place, help=help)
