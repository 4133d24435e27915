"""Say in a sentence of ours what the TOML parser stumbled over, where, and which edit mends it."""

from __future__ import annotations

import re
import tomllib

from tsc.diagnostics.model import Finding, Place
from tsc.source.lines import Lines
from tsc.source.toml_places import places
from tsc.source.wording import shown

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_BARE_BEFORE = re.compile(r"""[=,\[]\s*([^=,\[\]{}"'\s]+)\s*$""")
_NUMBER = re.compile(r"([-+]?)0*([0-9]*)(?:\.([0-9]*))?")
_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)")
_DUPLICATE = ("Cannot declare", "Cannot overwrite", "Cannot mutate", "Cannot redefine", "Duplicate")
_QUOTES = ("Unterminated string", "Illegal character '\\n'", 'Expected "\'"', "Expected '\"")


def explain(error: tomllib.TOMLDecodeError, lines: Lines, open_quote: int | None) -> tuple[Finding, ...]:
    """Give the findings for an error; `open_quote` is where a string starts that does not end."""
    words = str(error)
    match = _PLACE.search(words)
    at = lines.offset(int(match[1]), int(match[2])) if match and match[1] else len(lines.text)
    if words.startswith(_DUPLICATE):
        found = tuple(places(lines).duplicates)
        return found or (_finding(lines, at, "a key is set twice", "delete one of the two", "duplicate-key"),)
    if open_quote is not None and (at >= open_quote or words.startswith(_QUOTES)):
        quote = lines.text[open_quote]
        if lines.text.startswith(quote * 3, open_quote):
            quote *= 3
        message, help = f"the `{quote}` is not closed", f"close it with `{quote}`"
        return (_finding(lines, open_quote, message, help, size=len(quote)),)
    return (_sentence(words, lines, at),)


def _sentence(words: str, lines: Lines, at: int) -> Finding:
    text = lines.text
    character = text[at : at + 1]
    if words.startswith("Invalid value"):
        return _no_value(lines, at)
    if words.startswith("Expected newline or end"):
        return _rest(lines, at)
    if words.startswith("Expected '=' after a key"):
        if character == ":":
            message = "a `:` stands where TOML has `=`"
            return _finding(lines, at, message, "write `=`, or name the file `.tsc.yaml` if it is YAML")
        return _finding(lines, at, "a `=` is missing after the key", "write `key = value`")
    if words.startswith("Invalid initial character for a key"):
        return _bad_key(lines, at)
    if words.startswith(("Expected ']", "Expected '.'")):
        return _finding(lines, at, "the table header is not closed", "close it with `]`")
    if words.startswith("Unclosed array"):
        help = "separate the entries with `,` and close it with `]`"
        return _bare_before(lines, at) or _finding(lines, at, "the list is not closed before this", help)
    if words.startswith("Unclosed inline table"):
        if character in ("\r", "\n"):
            message = "an inline table of TOML ends on the line that it starts on"
            return _finding(lines, at, message, "keep it on one line; a list inside it may span lines")
        help = "separate the entries with `,` and close it with `}`"
        message = "the inline table is not closed before this"
        return _bare_before(lines, at) or _finding(lines, at, message, help)
    if words.startswith(("Unescaped", "Invalid hex", "Escaped character")):
        start = max(text.rfind("\\", 0, at + 1), 0)
        escape = text[start : start + 2]
        message = f"`{escape}` is no escape of a double-quoted string here"
        return _finding(lines, start, message, f"write `\\{escape}`, or use single quotes", size=2)
    if words.startswith("Invalid date"):
        return _finding(lines, at, "the date does not exist, and a spec has none", "quote it")
    if words.startswith(("Found invalid character", "Illegal character")):
        message = f"the character U+{ord(character or '?'):04X} stands in a comment or string"
        return _finding(lines, at, message, "delete it")
    help = "write `key = value` or `[table]`; name the file `.tsc.yaml` if it is YAML"
    return _finding(lines, at, "this is no `key = value` and no `[table]`", help, size=len(_bare(text, at)))


def _no_value(lines: Lines, at: int) -> Finding:
    bare = _bare(lines.text, at)
    if not bare:
        return _finding(lines, at, "a value is missing here", "write the value")
    help = f'quote it: `"{shown(bare)}"`; in TOML every expression is a string'
    number = _NUMBER.fullmatch(bare)
    if bare in ("True", "False", "TRUE", "FALSE"):
        help = f"write `{bare.lower()}`"
    elif bare in ("null", "Null", "NULL", "None", "~"):
        help = "leave the key out; TOML has no null"
    elif number:
        fraction = "" if number[3] is None else f".{number[3] or '0'}"
        help = f"write `{number[1]}{number[2] or '0'}{fraction}`"
    return _finding(lines, at, f"`{shown(bare)}` is no value of TOML", help, size=len(bare))


def _rest(lines: Lines, at: int) -> Finding:
    help = "quote the whole value, or put the next key on a line of its own"
    ended = _finding(lines, at, "the value has ended before this", help)
    return _bare_before(lines, at) or ended


def _bare_before(lines: Lines, at: int) -> Finding | None:
    """Report an expression without quotes, of which the parser has taken the front for a number."""
    start = lines.starts[lines.number(at) - 1]
    match = _BARE_BEFORE.search(lines.text[start:at])
    rest = _bare(lines.text, at)
    if match is None or not rest or _ASSIGNS.search(rest):
        return None
    return _no_value(lines, start + match.start(1))


def _bare(text: str, at: int) -> str:
    """Give what looks like one value from `at` on: up to a comma or a bracket that is not its own."""
    depth, end = 0, at
    while end < len(text) and text[end] not in "\r\n#":
        if text[end] in "([{":
            depth += 1
        elif text[end] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and text[end] == ","):
            break
        end += 1
    return text[at:end].strip()


def _bad_key(lines: Lines, at: int) -> Finding:
    before = lines.text[:at].rstrip()
    if before.endswith((",", "{")):
        message = "an inline table of TOML is one line without a `,` at its end"
        return _finding(lines, at, message, "delete the `,`, or write the table under a `[header]`")
    return _finding(
        lines, at, "a key is missing here", "write a name of letters, digits, `_` and `-`, or quote it"
    )


def _finding(
    lines: Lines, at: int, message: str, help: str, rule: str = "bad-syntax", size: int = 1
) -> Finding:
    at = min(at, max(len(lines.text.rstrip()) - 1, 0))
    if lines.text[at : at + 1] in ("\r", "\n"):
        at = max(at - 1, 0)
    return Finding(rule, message, Place((), span=lines.span(at, at + max(size, 1))), help=help)
