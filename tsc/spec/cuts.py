"""What goes wrong before a model looks: expressions that YAML cut at a comma, and keys without a value."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from tsc.diagnostics.model import Finding, Place
from tsc.source import Document, unbalanced
from tsc.source.route import Route
from tsc.source.span import Span
from tsc.spec.schedule import NODES, verb_of
from tsc.spec.wording import subject

_LONGEST = 400
_OPENING, _CLOSING = "([{", {")": "(", "]": "[", "}": "{"}


@dataclass(slots=True)
class Sifted:
    """Findings, and the places they have spoken about: what a model says of those is no second problem."""

    cuts: list[Finding] = field(default_factory=list)
    settled: set[Route] = field(default_factory=set)  # the pieces of cut expressions
    empty: dict[Route, Finding] = field(default_factory=dict)  # keys and entries without a value
    lengths: set[Route] = field(default_factory=set)  # lists whose number of entries is not what was meant

    def covers(self, route: Route) -> bool:
        """Whether a place or one above it is settled."""
        return route in self.empty or (bool(self.settled) and _within(route, self.settled))


def sift(document: Document, data: object, changed: frozenset[Route]) -> Sifted:
    """Find cut expressions and keys without a value; at `changed` places the value is not the document's."""
    sifted = Sifted()
    for route, value in _scalars(data):
        if sifted.covers(route):
            continue
        if isinstance(value, str):
            if document.language == "yaml" and _may_be_cut(value) and not _within(route, changed):
                _cut(document, route, value, data, sifted)
        elif value is None and not _verbless(route, data):
            key = bool(route) and isinstance(route[-1], str)
            place = Place(route, "key") if key else Place(route)
            help = "write a value, or leave it out"
            if len(route) > 1 and route[-1] in NODES and isinstance(route[-2], int):
                help = "write its operand"
            sifted.empty[route] = Finding("wrong-type", f"{subject(route)} has no value", place, help=help)
    return sifted


def _scalars(data: object) -> Iterator[tuple[Route, object]]:
    # In the order of the document, so that the pieces of a cut expression come after its beginning.
    waiting: list[tuple[Route, object]] = [((), data)]
    while waiting:
        route, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(((*route, key), inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend(((*route, i), value[i]) for i in reversed(range(len(value))))
        else:
            yield route, value


def _within(route: Route, places: Set[Route]) -> bool:
    return any(route[:depth] in places for depth in range(len(route) + 1))


def _may_be_cut(value: str) -> bool:
    return len(value) < _LONGEST and "\n" not in value and unbalanced(value)


def _verbless(route: Route, data: object) -> bool:
    # `- pdl_wait:` and `- ring.acquire:` are steps with a stray colon, and get a sentence as steps.
    if len(route) < 2 or not isinstance(route[-2], int) or not isinstance(route[-1], str):
        return False
    for part in route[:-1]:
        data = data[part]  # type: ignore[index]  # the route was made from this data
    return verb_of(data) is None


def _cut(document: Document, route: Route, value: str, data: object, sifted: Sifted) -> None:
    span = document.span_of(Place(route))
    start, end = span.start.offset, span.end.offset
    if document.text[start:end] != value or not document.text[end : end + _LONGEST].lstrip().startswith(","):
        return
    whole = _whole(document.text, start)
    if whole is None or whole <= end:
        return
    expression = " ".join(document.text[start:whole].split())
    pieces = _pieces(document, route, data, start, whole)
    kind = "entries" if isinstance(route[-1], int) else "keys"
    place = Place(
        route,
        span=Span(span.start, document.lines.span(start, whole).end),
        label=f"read as {expression.count(',') + 1} {kind}",
    )
    message, help = f"YAML cut `{expression}` at the comma", "quote it, or name it under `let`"
    sifted.cuts.append(Finding("cut-expression", message, place, help=help))
    sifted.settled.update((route, *pieces))
    sifted.lengths.add(route[:-1])


def _whole(text: str, start: int) -> int | None:
    """Find the end of the expression that begins at `start`, were commas in its brackets no separators."""
    opened: list[str] = []
    for at in range(start, min(len(text), start + _LONGEST)):
        character = text[at]
        if not opened and character in ",]}\n":
            return at
        if character in _OPENING:
            opened.append(character)
        elif character in _CLOSING and (not opened or opened.pop() != _CLOSING[character]):
            return None
    return None


def _pieces(document: Document, route: Route, data: object, start: int, end: int) -> list[Route]:
    """Give the entries or keys after `route` that stand inside the expression."""
    siblings = data
    for part in route[:-1]:
        siblings = siblings[part]  # type: ignore[index]  # the route was made from this data
    last = route[-1]
    if isinstance(siblings, list) and isinstance(last, int):
        after = [(*route[:-1], i) for i in range(last + 1, len(siblings))]
    else:
        keys = list(siblings) if isinstance(siblings, dict) else []
        after = [(*route[:-1], key) for key in keys[keys.index(last) + 1 :]]
    part = "value" if isinstance(last, int) else "key"
    return [piece for piece in after if start < document.span_of(Place(piece, part)).start.offset < end]  # type: ignore[arg-type]
