"""Opens or closes in a snippet what the snippet does not close or open, or ends in half a statement.

What it does
    Matches the brackets, quotes, comments, branches and macros of each snippet, and looks for the `;` of its
    last statement.

Why is this bad
    Generated code behind the snippet becomes part of it: the compiler complains there, far from the cause.

Example
    cuda: |
      for (int i = 0; i < v.size; ++i) v[i] = 2 * v[i]

Use instead
    cuda: |
      for (int i = 0; i < v.size; ++i) v[i] = 2 * v[i];
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing import directives
from tsc.rules.routing.snippet import Piece, place_of, snippets

RULE = Rule("TSC166", "unbalanced-snippet", Severity.ERROR, "a snippet does not close what it opens")

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first place of each snippet at which it is not whole."""
    for work in program.works.values():
        text = work.text or ""
        lines = [match.span() for match in directives.DIRECTIVE.finditer(text)]
        found = [p for p in snippets(program)[work.name] if not any(a <= p.start < b for a, b in lines)]
        first = _quiet(found) or directives.fault(text)
        if first is None and not directives.BRANCH.search(text):  # branches may share a bracket
            first = _bracket(found) or _end(found)
        if first is not None:
            piece, what, hint = first
            place, where = place_of(program, work, piece.start, piece.end)
            yield Finding(RULE.name, f"{what} in `{work.name}`{where}", place, help=hint)


def _quiet(found: list[Piece]) -> tuple[Piece, str, str] | None:
    """Find a quote or comment that does not end: one that does is no part of the tokens."""
    for piece, behind in zip(found, [*found, Piece("", -1)][1:], strict=True):
        if piece.text in "'\"":
            return piece, f"no second `{piece.text}` ends what this one begins", f"add a `{piece.text}`"
        if piece.text == "/" and behind.text == "*" and behind.start == piece.end:
            return Piece("/*", piece.start), "no `*/` ends the comment", "add `*/`"
    return None


def _bracket(found: list[Piece]) -> tuple[Piece, str, str] | None:
    opened: list[Piece] = []
    for piece in found:
        if piece.text in _CLOSING:
            opened.append(piece)
        elif piece.text in _CLOSING.values():
            if not opened:
                return piece, f"nothing opens what this `{piece.text}` closes", "take it away"
            if _CLOSING[(last := opened.pop()).text] != piece.text:
                return (
                    last,
                    f"`{piece.text}` comes before this `{last.text}` is closed",
                    f"add `{_CLOSING[last.text]}`",
                )
    if opened:
        return opened[-1], f"no `{_CLOSING[opened[-1].text]}` closes this `{opened[-1].text}`", "add it"
    return None


def _end(found: list[Piece]) -> tuple[Piece, str, str] | None:
    last = found[-1] if found else Piece(";", 0)
    macro = last.text == ")" and any(piece.word and piece.text.isupper() for piece in found)
    if last.text in (";", "}") or macro:
        return None
    return last, "no `;` ends the last statement", "add `;`"
