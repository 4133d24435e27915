"""How findings about a document name values, places and lists of words."""

from __future__ import annotations

from collections.abc import Iterable

from tsc.expr.hints import closest
from tsc.model import shorten
from tsc.source.route import Route

_LONGEST_GUESS = 80
SWITCHES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def actual(value: object) -> str:
    """Say what a value of the document is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return f"the number {value:,}"
        case float():
            return f"the number {value}"
        case str():
            return f"the text `{shorten(value)}`" if value.strip() else "an empty text"
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
    return f"a {type(value).__name__}"


def literal(value: object) -> str:
    """Write a scalar as a spec does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def subject(route: Route) -> str:
    """Name the place that a route leads to: by its key, or as an entry of the list at that key."""
    if not route:
        return "a spec"
    *above, last = route
    if isinstance(last, str):
        return f"`{shorten(last)}`"
    name = next((part for part in reversed(above) if isinstance(part, str)), "")
    return f"entry {last + 1} of `{shorten(name)}`"


def series(words: Iterable[object], joint: str = "and") -> str:
    """Write words in backticks: `a`, `b` and `c`."""
    quoted = [f"`{literal(word)}`" for word in words]
    return f" {joint} ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))


def nearest(word: object, known: Iterable[object]) -> str | None:
    """Give the known word that `word` was probably meant to be."""
    text = literal(word)
    return closest(text, (str(name) for name in known)) if len(text) <= _LONGEST_GUESS else None


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Give the help for an unknown word, nothing if no known one is near."""
    guess = nearest(word, known)
    return f"did you mean `{guess}`?" if guess else ""


def count(number: int, noun: str) -> str:
    """Write a number of things: `no entries`, `1 entry`, `3 entries`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {many}" if number else f"no {many}"
