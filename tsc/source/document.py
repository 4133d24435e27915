"""A document: plain data, and the line and column of everything in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsc.diagnostics.model import Place
from tsc.source.align import offsets
from tsc.source.characters import Language
from tsc.source.lines import Lines
from tsc.source.route import Route
from tsc.source.span import Span
from tsc.source.tree import Node, Range


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read.

    `data` is made of dict, list, str, int, float, bool and None, and keeps the order of the text.
    `comments` are the ranges of the comments, from `#` to the end of the line.
    """

    name: str
    text: str
    language: Language
    data: object
    root: Node = field(repr=False)
    lines: Lines = field(repr=False, compare=False)
    comments: tuple[Range, ...] = field(default=(), repr=False)

    def span_of(self, place: Place) -> Span:
        """Give the span of a place.

        Where the document does not reach as far as the route, it is the key (or the first key) of the
        deepest value that is there. `within` narrows a scalar to some of its characters.
        """
        if place.span is not None:
            return place.span
        node, value, known = self._walk(place.route)
        if known < len(place.route):
            return self._name_of(node)
        if place.part == "key" and node.key is not None:
            return self.lines.span(*node.key)
        if place.within is not None and isinstance(value, str):
            inner = self._inside(node, value, place.within)
            if inner is not None:
                return self.lines.span(*inner)
        return self.lines.span(node.start, node.end)

    def span(self, start: int, end: int) -> Span:
        """Give the span of a range of offsets into the text."""
        return self.lines.span(start, end)

    def line_of(self, route: Route, n: int) -> int:
        """Give the one-based line of the text that holds the `n`-th line (from one) of a string.

        Exact for literal blocks and TOML's strings of several lines, blank lines included.
        """
        node, value, known = self._walk(route)
        node = node.target or node
        first = self.lines.number(node.start)
        if known < len(route) or not isinstance(value, str):
            return first
        n = max(1, min(n, value.count("\n") + 1))
        if node.style == "literal":
            return first + n
        if node.style in ("double-lines", "raw-lines"):
            breaks_first = self.text[node.start + 3 : node.start + 4] in ("\n", "\r")
            return first + n - (0 if breaks_first else 1)
        at = 0
        for _ in range(n - 1):
            at = value.index("\n", at) + 1
        places = offsets(self.text, node, value)
        return first if places is None else self.lines.number(places[min(at, len(places) - 1)])

    def _walk(self, route: Route) -> tuple[Node, object, int]:
        node, value = self.root, self.data
        for known, step in enumerate(route):
            child = node.children.get(step) if node.children else None
            if child is None:
                return node, value, known
            node = child
            if isinstance(value, (dict, list)):
                value = value[step]  # type: ignore[index]  # outline and data have the same shape
        return node, value, len(route)

    def _name_of(self, node: Node) -> Span:
        if node.key is not None:
            return self.lines.span(*node.key)
        inner = node
        while inner.children and inner.key is None:
            inner = next(iter(inner.children.values()))
        start, end = inner.key or (node.start, node.end)
        return self.lines.span(start, end)

    def _inside(self, node: Node, value: str, within: Range) -> Range | None:
        places = None if node.style == "alias" else offsets(self.text, node, value)
        if places is None:
            return None
        start, end = (max(0, min(at, len(value))) for at in within)
        if start >= end:
            return places[start], places[start]
        return places[start], max(places[end - 1] + 1, places[start] + 1)
