"""Read TOML 1.0: the standard library gives the values, tree-sitter the places."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place
from tsc.source import limits
from tsc.source.core_schema import fits
from tsc.source.lines import Lines
from tsc.source.route import Route
from tsc.source.toml_errors import explain
from tsc.source.toml_places import places
from tsc.source.toml_scan import scan
from tsc.source.tree import Node, Outline

_KINDS = {"datetime": "a date and time", "date": "a date", "time": "a time"}


def compose(lines: Lines) -> Outline:
    """Read the TOML text of `lines`: data, places, comments and findings. A syntax error is the only one."""
    seen = scan(lines)
    if seen.finding is not None:
        return Outline(findings=(seen.finding,))
    try:
        data = tomllib.loads(lines.text)
    except tomllib.TOMLDecodeError as error:
        return Outline(findings=explain(error, lines, seen.open_quote))
    found = places(lines)
    findings = tuple(_misfits(data, found.root, lines))
    return Outline(data, None if findings else found.root, seen.comments, findings)


def _misfits(data: dict[str, object], root: Node, lines: Lines) -> Iterator[Finding]:
    """Find the values that TOML has and a spec has not: dates, and what is beyond the limits."""
    todo: list[tuple[object, Node, Route]] = [(data, root, ())]
    count = 0
    while todo:
        value, node, route = todo.pop()
        count += 1
        if count > limits.MAX_VALUES:
            yield limits.too_many_values(lines.span(node.start, node.end), route)
            return
        if isinstance(value, dict | list):
            if len(route) >= limits.MAX_LEVELS:
                yield limits.too_deep(lines.span(node.start, node.end), route)
                return
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            children = node.children or {}
            todo += [(inner, children.get(step, node), (*route, step)) for step, inner in steps][::-1]
        elif isinstance(value, str | bool):
            continue
        elif isinstance(value, int):
            if not fits(value):
                yield _wide(node, lines, route)
        elif isinstance(value, float):
            if math.isinf(value) and "inf" not in lines.text[node.start : node.end]:
                yield _wide(node, lines, route)
        else:
            kind = _KINDS.get(type(value).__name__, "a value of another kind")
            message = f"the value is {kind}, which a spec does not have"
            yield Finding(
                "bad-syntax", message, Place(route, span=lines.span(node.start, node.end)), help="quote it"
            )


def _wide(node: Node, lines: Lines, route: Route) -> Finding:
    return limits.too_many_digits(lines.text[node.start : node.end], lines.span(node.start, node.end), route)
