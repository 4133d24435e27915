"""Where everything in a TOML text stands, read off tree-sitter's tree."""

from __future__ import annotations

import tomllib
from array import array
from dataclasses import dataclass, field
from functools import cache

import tree_sitter
import tree_sitter_toml

from tsc.diagnostics.model import Finding, Place
from tsc.source.lines import Lines
from tsc.source.route import Route
from tsc.source.tree import Node, Range, Style
from tsc.source.wording import shown

_STRINGS: tuple[tuple[str, Style], ...] = (
    ('"""', "double-lines"),
    ("'''", "raw-lines"),
    ('"', "double"),
    ("'", "raw"),
)
_KEYS = ("bare_key", "quoted_key", "dotted_key")
_DATES = {"offset_date_time", "local_date_time", "local_date", "local_time"}
_VALUES = {"string", "integer", "float", "boolean", "array", "inline_table"} | _DATES


@dataclass(slots=True)
class Places:
    """The outline of a text, and the keys that are set twice in it."""

    lines: Lines
    root: Node
    duplicates: list[Finding] = field(default_factory=list)
    _points: array[int] | None = None  # code point of each byte, where the two differ
    _declared: dict[int, Range] = field(default_factory=dict)  # by node: where its header stands

    def range(self, part: tree_sitter.Node) -> Range:
        """Give the range of a part of the tree in code points."""
        if self._points is None:
            return part.start_byte, part.end_byte
        return self._points[part.start_byte], self._points[part.end_byte]

    def document(self, tree: tree_sitter.Node) -> None:
        """Take in the whole tree. What it could not parse is left out."""
        for part in tree.named_children:
            if part.type == "pair":
                self.pair(part, self.root, ())
            elif part.type in ("table", "table_array_element"):
                self.table(part)
        tops = list((self.root.children or {}).values())
        if tops:
            self.root.start = min((node.key or (node.start, 0))[0] for node in tops)
            self.root.end = max(node.end for node in tops)

    def table(self, part: tree_sitter.Node) -> None:
        """Take in a `[table]` or one `[[element]]` and its pairs."""
        header = next((child for child in part.named_children if child.type in _KEYS), None)
        if header is None:
            return
        start = self.range(part)[0]
        keys = self.keys(header)
        found = self.descend(self.root, keys[:-1], (), start, dotted=False)
        if found is None:
            return
        parent, route = found
        name, key = keys[-1]
        route = (*route, name)
        children = parent.children if parent.children is not None else {}
        node = children.get(name)
        end = self.lines.text.find("]", key[1]) + 1 or key[1]
        if part.type == "table_array_element":
            if node is None:
                node = children[name] = Node(start, end, "sequence", key, {})
                self._declared[id(node)] = (-1, -1)
            elif self._declared.get(id(node)) != (-1, -1) or node.children is None:
                self.twice(name, route, key, node.key)
                return
            items = node.children if node.children is not None else {}
            target = items[len(items)] = Node(start, end, "mapping", None, {})
            route = (*route, len(items) - 1)
        elif node is None:
            target = children[name] = Node(start, end, "mapping", key, {})
            self._declared[id(target)] = key
        elif node.style != "mapping" or id(node) in self._declared:
            self.twice(name, route, key, self._declared.get(id(node), node.key))
            return
        else:
            target = node
            target.key = key
            self._declared[id(node)] = key
        for child in part.named_children:
            if child.type == "pair":
                self.pair(child, target, route)
                target.end = max(target.end, self.range(child)[1])
        self.stretch(route, target.end)

    def pair(self, part: tree_sitter.Node, table: Node, route: Route) -> None:
        """Take in `key = value`, the key perhaps dotted."""
        header = next((child for child in part.named_children if child.type in _KEYS), None)
        value = next((child for child in part.named_children if child.type in _VALUES), None)
        if header is None or value is None:
            return
        keys = self.keys(header)
        found = self.descend(table, keys[:-1], route, self.range(part)[0], dotted=True)
        if found is None:
            return
        parent, route = found
        name, key = keys[-1]
        children = parent.children if parent.children is not None else {}
        if name in children:
            self.twice(name, (*route, name), key, children[name].key)
            return
        node = children[name] = self.value(value, (*route, name))
        node.key = key
        parent.end = max(parent.end, node.end)

    def value(self, part: tree_sitter.Node, route: Route) -> Node:
        """Give the outline of a value."""
        start, end = self.range(part)
        if part.type == "array":
            items = [child for child in part.named_children if child.type in _VALUES]
            children: dict[str | int, Node] = {
                index: self.value(child, (*route, index)) for index, child in enumerate(items)
            }
            return Node(start, end, "sequence", None, children)
        if part.type == "inline_table":
            node = Node(start, end, "mapping", None, {})
            self._declared[id(node)] = (start, end)
            for child in part.named_children:
                if child.type == "pair":
                    self.pair(child, node, route)
            return node
        style: Style = "plain"
        if part.type == "string":
            text = self.lines.text
            style = next((style for quote, style in _STRINGS if text.startswith(quote, start)), "plain")
        return Node(start, end, style)

    def keys(self, part: tree_sitter.Node) -> list[tuple[str, Range]]:
        """Give the parts of a key, decoded, each with its range."""
        if part.type == "dotted_key":
            return [key for child in part.named_children if child.type in _KEYS for key in self.keys(child)]
        start, end = self.range(part)
        return [(_name(self.lines.text[start:end]), (start, end))]

    def descend(
        self, node: Node, keys: list[tuple[str, Range]], route: Route, start: int, dotted: bool
    ) -> tuple[Node, Route] | None:
        """Follow keys from a table, making the tables on the way; None where a value is in the way.

        A table made by a dotted key of a pair is complete; no header opens it again.
        """
        for name, key in keys:
            route = (*route, name)
            children = node.children if node.children is not None else {}
            child = children.get(name)
            if child is None:
                child = children[name] = Node(start, key[1], "mapping", key, {})
                if dotted:
                    self._declared[id(child)] = key
            if child.style == "sequence" and child.children:
                last = len(child.children) - 1
                child, route = child.children[last], (*route, last)
            if child.style != "mapping":
                self.twice(name, route, key, child.key)
                return None
            node = child
        return node, route

    def stretch(self, route: Route, end: int) -> None:
        """Let the tables on a route reach as far as `end`."""
        node = self.root
        for step in route:
            node = (node.children or {})[step]
            node.end = max(node.end, end)

    def twice(self, name: str, route: Route, key: Range, first: Range | None) -> None:
        """Report a key that is set again at `key`."""
        related: tuple[Place, ...] = ()
        if first is not None and first != (-1, -1):
            related = (Place(route, "key", label="first set here", span=self.lines.span(*first)),)
        place = Place(route, "key", span=self.lines.span(*key))
        message = f"the key `{shown(name)}` is set twice in one table"
        self.duplicates.append(Finding("duplicate-key", message, place, related, "delete one of the two"))


def places(lines: Lines) -> Places:
    """Read where everything in the text of `lines` stands."""
    data = lines.text.encode()
    found = Places(lines, Node(0, len(lines.text), "mapping", None, {}))
    if len(data) != len(lines.text):
        points = array("I", bytes(4 * (len(data) + 1)))
        at = 0
        for index, character in enumerate(lines.text):
            size = 1 if character < "\x80" else len(character.encode())
            for inner in range(at, at + size):
                points[inner] = index
            at += size
        points[at] = len(lines.text)
        found._points = points
    found.document(_parser().parse(data).root_node)
    return found


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))


def _name(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    try:
        return str(tomllib.loads(f"key = {text}")["key"])
    except ValueError:
        return text
