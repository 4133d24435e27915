"""Where each character of a string's value stands in the text, through quotes, escapes and folds."""

from __future__ import annotations

import re

from tsc.source.tree import Node

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_NAMED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_GOES_ON = re.compile(r"(?<!\\)(?:\\\\)*\\[ \t]*$")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")

_Piece = list[tuple[str, int]]
"""Characters of the value that stand on one line of the text, each with its offset."""


def offsets(text: str, node: Node, value: str) -> list[int] | None:
    """Give the offset in `text` of each character of `value`, and one more for its end.

    Breaks between lines map to the next piece of text. None if the text does not account for the value.
    """
    start, end = node.start, node.end
    if text[start:end] == value:
        return list(range(start, end + 1))
    places: list[int] = []
    for piece in _pieces(text, node):
        content = "".join(character for character, _ in piece)
        if not content:
            continue
        at = len(places)
        while not value.startswith(content, at):
            if at >= len(value) or value[at] not in " \n":
                return None
            at += 1
        places += [piece[0][1]] * (at - len(places))
        places += [offset for _, offset in piece]
    if value[len(places) :].strip("\n"):
        return None
    body_end = end - {"single": 1, "double": 1, "raw": 1, "double-lines": 3, "raw-lines": 3}.get(
        node.style, 0
    )
    return places + [body_end] * (len(value) + 1 - len(places))


def _pieces(text: str, node: Node) -> list[_Piece]:
    match node.style:
        case "single" | "double" | "raw":
            return _quoted(text, node.start + 1, node.end - 1, node.style)
        case "double-lines" | "raw-lines":
            return _quoted(text, node.start + 3, node.end - 3, node.style)
        case "literal" | "folded":
            return _block(text, node)
        case "plain":
            return [
                [*zip(line.strip(), range(at + len(line) - len(line.lstrip()), node.end), strict=False)]
                for line, at in _split(text, node.start, node.end)
            ]
        case _:
            return []


def _split(text: str, start: int, end: int) -> list[tuple[str, int]]:
    lines = []
    while start <= end:
        match = _LINE.match(text, start, end)
        if match is None:
            break
        lines.append((match[1], start))
        if not match[2]:
            break
        start = match.end()
    return lines


def _block(text: str, node: Node) -> list[_Piece]:
    _, *body = _split(text, node.start, node.end)
    filled = [line for line, _ in body if line.strip(" ")]
    indent = min((len(line) - len(line.lstrip(" ")) for line in filled), default=0)
    return [[*zip(line[indent:], range(at + indent, node.end), strict=False)] for line, at in body]


def _quoted(text: str, start: int, end: int, style: str) -> list[_Piece]:
    lines = _split(text, start, end)
    folds = style in ("single", "double")
    pieces = []
    goes_on = False  # a backslash has taken the break, and the blanks before the next text with it
    for number, (line, at) in enumerate(lines):
        first = len(line) - len(line.lstrip(" \t")) if (folds and number) or goes_on else 0
        last = len(line.rstrip(" \t")) if folds and number < len(lines) - 1 else len(line)
        if style == "double-lines":
            goes_on = bool(_GOES_ON.search(line)) or (goes_on and first == len(line))
            last = len(line.rstrip(" \t")) if goes_on else last
        pieces.append(_decoded(text, at + first, at + max(first, last), style))
    return pieces


def _decoded(text: str, at: int, end: int, style: str) -> _Piece:
    piece: _Piece = []
    while at < end:
        if text[at] == "\\" and style.startswith("double"):
            match = _ESCAPE.match(text, at, end)
            if match is None:  # the line goes on in the next one
                break
            code = match[1] or match[2] or match[3]
            character = chr(int(code, 16)) if code else _NAMED.get(match[4], match[4])
            piece.append((character, at))
            at = match.end()
        else:
            piece.append((text[at], at))
            at += 2 if style == "single" and text.startswith("''", at, end) else 1
    return piece
