"""A snippet's text as a rule needs it: without comments and strings, and in tokens with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tsc.diagnostics.model import Place
from tsc.program.model import Program, Work
from tsc.rules.memo import per_program

_QUIET = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'"""
    r"|^[ \t]*\#[ \t]*(?:pragma|include|error|line)\b[^\n]*",
    re.S | re.M,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|::|->|&&|\|\||[^\s\w]")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of C++ and its first character in the text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The character behind it."""
        return self.start + len(self.text)

    @property
    def word(self) -> bool:
        """Whether it is an identifier or a keyword."""
        return _WORD.match(self.text) is not None


def bare(text: str) -> str:
    """Return the text with comments, strings and pragmas blanked, every character at its place."""
    return _QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def pieces(text: str) -> list[Piece]:
    """Return the tokens of a text."""
    return [Piece(match.group(), match.start()) for match in _TOKEN.finditer(bare(text))]


@per_program
def snippets(program: Program) -> dict[str, list[Piece]]:
    """Return the tokens of every work's snippet, none where it cannot be read."""
    return {name: pieces(work.text or "") for name, work in program.works.items()}


def identifiers(program: Program, work: str) -> set[str]:
    """Return the identifiers in a work's snippet that are no member of something else."""
    return {piece.text for piece in names(snippets(program).get(work, []))}


def names(found: list[Piece]) -> Iterator[Piece]:
    """Yield the identifiers that stand for themselves, not behind `.`, `->` or `::`."""
    for i, piece in enumerate(found):
        if piece.word and (i == 0 or found[i - 1].text not in (".", "->", "::")):
            yield piece


def place_of(program: Program, work: Work, start: int, end: int) -> tuple[Place, str]:
    """Return the place of a range of the snippet, and the words that say it where the text is in a file."""
    if program.spec.work[work.name].cuda is not None:
        return Place(work.text_route, within=(start, end)), ""
    line = (work.text or "").count("\n", 0, start) + 1
    return Place(work.text_route), f" in line {line} of `{work.text_name}`"


_NO_TYPES = frozenset(
    "return else case goto throw new delete sizeof and or not do co_return co_yield if while".split()  # noqa: SIM905
)
_TYPES = frozenset(
    """auto bool char short int long float double unsigned signed void const constexpr static
    i8 u8 i16 u16 i32 u32 i64 u64 bf16 f16 tf32 half""".split()  # noqa: SIM905
)


def declared(found: list[Piece]) -> set[str]:
    """Return the names that the snippet declares itself; in doubt a name counts as declared."""
    return {
        piece.text
        for i, piece in enumerate(found)
        if piece.word and i > 0 and (_after_type(found, i) or _in_list(found, i))
    }


def _after_type(found: list[Piece], i: int) -> bool:
    before = found[i - 1]
    behind = found[i + 1].text if i + 1 < len(found) else ";"
    if before.text in ("define", "struct", "class", "using", "enum"):
        return True
    if behind not in ("=", ";", ",", "[", "(", "{", ")", ":"):
        return False
    if before.word:
        return before.text not in _NO_TYPES
    if before.text in ("*", "&", "&&") and i > 1:
        return found[i - 2].text in _TYPES or found[i - 2].text.endswith("_t") or found[i - 2].text == "*"
    if before.text == ">":
        inside: list[Piece] = []
        for piece in reversed(found[: i - 1]):
            if piece.text == "<":
                return all(p.word or p.text in (",", "::", "*") or p.text[0].isdigit() for p in inside)
            inside.append(piece)
            if piece.text in (";", "{", "}"):
                return False
    return False


def _in_list(found: list[Piece], i: int) -> bool:
    """Whether it is a further name of a declaration: behind a comma, in a statement that a type begins."""
    if found[i - 1].text not in (",", "["):
        return False
    depth = 0
    for j in range(i - 1, -1, -1):
        text = found[j].text
        depth += (text in ")]}") - (text in "([{")
        if depth < 0:
            return text == "[" and j > 0 and found[j - 1].text in ("auto", "&", "&&")
        if text in (";", "{", "}") and depth == 0:
            return found[j + 1].text in _TYPES
    return found[0].text in _TYPES
