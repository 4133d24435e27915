"""Which `return`s of a snippet leave the snippet itself, and not a function inside it."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.rules.routing.snippet import Piece


def returns(found: list[Piece]) -> Iterator[Piece]:
    """Yield each `return` that stands in no lambda and no local class."""
    inner: list[bool] = []
    for i, piece in enumerate(found):
        if piece.text == "{":
            inner.append(_function(found, i))
        elif piece.text == "}" and inner:
            inner.pop()
        elif piece.text == "return" and not any(inner):
            yield piece


def _function(found: list[Piece], brace: int) -> bool:
    """Whether a brace opens the body of a lambda or of a local class."""
    i = brace - 1
    while i >= 0 and (found[i].word or found[i].text in ("->", "::", "<", ">", "*", "&", ",")):
        if found[i].text in ("struct", "class", "union"):
            return True
        i -= 1
    if i >= 0 and found[i].text == ")":
        depth = 0
        while i >= 0:
            depth += (found[i].text == ")") - (found[i].text == "(")
            if depth == 0:
                break
            i -= 1
        i -= 1
    return i >= 0 and found[i].text == "]"
