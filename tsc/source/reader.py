"""The one way in: a path, standard input or a text becomes a document or findings."""

from __future__ import annotations

import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tsc.diagnostics.model import Finding, Place
from tsc.source import limits
from tsc.source.characters import Language, decode, forbidden_character, without_mark
from tsc.source.document import Document
from tsc.source.lines import Lines
from tsc.source.tree import Outline

STDIN = "-"

_SUFFIXES: dict[str, Language] = {".yaml": "yaml", ".yml": "yaml", ".json": "yaml", ".toml": "toml"}
_FATAL = ("bad-syntax", "input-too-large")
_TOML_KEY = r"""(?:[\w-]++|"[^"]*+"|'[^']*+')"""
_TOML_LINE = re.compile(rf"\[\[?[^\[\]:,]+\]\]?\s*(?:#.*)?$|{_TOML_KEY}(?:\s*\.\s*{_TOML_KEY})*+\s*=")


class ReadError(Exception):
    """A spec that cannot be read at all; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a spec: a document unless a finding says why there is none.

    `text` is what the findings' spans point into, also where there is no document.
    """

    name: str
    text: str
    document: Document | None
    findings: tuple[Finding, ...]


def read(path: str, *, stdin_name: str | None = None, language: str | None = None) -> Reading:
    """Read the spec at `path`, or standard input for `-`, there named `stdin_name`.

    The language is `language`, or follows from the suffix of the name, or from the text. Raises ReadError.
    """
    name = stdin_name or "<stdin>" if path == STDIN else path
    data = _read_stdin() if path == STDIN else _read_file(path)
    text, finding = decode(data)
    text = without_mark(text)
    if len(data) > limits.MAX_BYTES:
        span = Lines("").span(0, 0)
        return Reading(name, "", None, (limits.too_many_bytes(span),))
    if finding is not None:
        return Reading(name, text, None, (finding,))
    return parse(text, name, language)


def parse(text: str, name: str, language: str | None = None) -> Reading:
    """Read a text; its language is found as `read` finds it. Raises ReadError for a language unknown."""
    chosen = _language(text, name, language)
    text = without_mark(text)
    lines = Lines(text)
    if len(text) * 4 > limits.MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > limits.MAX_BYTES:
        return Reading(name, text, None, (limits.too_many_bytes(lines.span(0, 0)),))
    character = forbidden_character(lines, chosen)
    if character is not None:
        return Reading(name, text, None, (character,))
    outline = _outline(lines, chosen)
    findings = outline.findings
    empty = outline.root is None or outline.data is None or outline.data == {}
    if findings and (empty or any(finding.rule in _FATAL for finding in findings)):
        return Reading(name, text, None, findings)
    if outline.root is None or empty or not isinstance(outline.data, dict):
        return Reading(name, text, None, (*findings, _not_a_mapping(outline, lines)))
    document = Document(name, text, chosen, outline.data, outline.root, lines, outline.comments)
    return Reading(name, text, document, findings)


def _outline(lines: Lines, language: Language) -> Outline:
    # Only the parser that is needed is imported: both cost time that `tsc check` would feel.
    if language == "toml":
        from tsc.source.toml import compose
    else:
        from tsc.source.yaml import compose
    return compose(lines)


def _not_a_mapping(outline: Outline, lines: Lines) -> Finding:
    if outline.root is None or outline.data is None or outline.data == {}:
        message, help = "the spec is empty", "start with `tsc: 1`, `kernel: NAME` and `target: sm_90a`"
    else:
        kind = "a list" if isinstance(outline.data, list) else "a single value"
        message, help = f"a spec is a mapping of keys to values, this is {kind}", "start with `tsc: 1`"
    start = outline.root.start if outline.root else 0
    line = lines.number(start)
    end = lines.starts[line - 1] + len(lines.line(line))
    return Finding("not-a-mapping", message, Place((), span=lines.span(start, max(start, end))), help=help)


def _language(text: str, name: str, language: str | None) -> Language:
    if language is not None:
        if language not in ("yaml", "toml"):
            raise ReadError(f"the language of a spec is `yaml` or `toml`, not `{language}`")
        return cast(Language, language)
    return _SUFFIXES.get(Path(name).suffix.lower()) or _guess(text)


def _guess(text: str) -> Language:
    for line in text.splitlines()[:1000]:
        line = line[:1000].strip()
        if line.startswith("#:schema"):
            return "toml"
        if line and not line.startswith("#"):
            return "toml" if _TOML_LINE.match(line) else "yaml"
    return "yaml"


def _read_stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise ReadError("standard input is closed")
    source = getattr(sys.stdin, "buffer", sys.stdin)
    try:
        data = source.read(limits.MAX_BYTES + 1)
    except OSError as error:
        raise ReadError(f"standard input cannot be read: {_reason(error)}") from error
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogatepass")


def _read_file(path: str) -> bytes:
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise ReadError(f"`{path}` is a folder, a spec is a file")
        if not stat.S_ISREG(mode):
            raise ReadError(f"`{path}` is not a regular file; pass `-` to read a spec from standard input")
        with Path(path).open("rb") as file:
            return file.read(limits.MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ReadError(f"`{path}` does not exist") from error
    except PermissionError as error:
        raise ReadError(f"`{path}` cannot be read: permission is denied") from error
    except OSError as error:
        raise ReadError(f"`{path}` cannot be read: {_reason(error)}") from error
    except ValueError as error:
        raise ReadError(f"`{path!a}` is no path") from error


def _reason(error: OSError) -> str:
    return (error.strerror or "it failed").lower()
