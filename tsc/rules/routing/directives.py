"""The preprocessor's directives in a snippet: the facts of the rule `unbalanced-snippet`."""

from __future__ import annotations

import re

from tsc.emit.headers import global_names
from tsc.rules.routing.snippet import Piece, bare

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
BRANCH = re.compile(r"^[ \t]*#[ \t]*(?:if|el)", re.M)
_PART = re.compile(r"^[ \t]*(#[ \t]*([a-z]+))(?:[ \t]+([A-Za-z_]\w*))?", re.M)


def fault(text: str) -> tuple[Piece, str, str] | None:
    """Find the first directive that reaches beyond the snippet, with what is wrong and the edit to make."""
    open_: list[Piece] = []
    defined: dict[str, Piece] = {}
    for match in _PART.finditer(bare(text)):
        piece, word, name = Piece(match[1], match.start(1)), match[2], match[3] or ""
        said = Piece(name, match.start(3))
        if word.startswith("if"):
            open_.append(piece)
        elif word in ("elif", "elifdef", "elifndef", "else", "endif") and not open_:
            return piece, f"nothing opens what this `#{word}` belongs to", "add the `#if`, or take it away"
        elif word == "endif":
            open_.pop()
        elif word == "define" and name in global_names():
            return (
                said,
                f"generated code has a `{name}` of its own, which is replaced",
                "give it another name",
            )
        elif word == "define":
            defined.setdefault(name, said)
        elif word == "undef" and defined.pop(name, None) is None and not open_:
            return said, f"nothing here defines the macro `{name}`", "take `#undef` away"
    if open_:
        return open_[-1], f"no `#endif` closes this `{open_[-1].text}`", "add it, on a line of its own"
    for name, said in defined.items():
        hint = f"add `#undef {name}` at the end, or write a constant or a lambda"
        return said, f"no `#undef` takes the macro `{name}` back", hint
    return None
