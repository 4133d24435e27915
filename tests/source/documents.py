"""Random documents, written down as YAML and as TOML in random ways, with the place of everything in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from tsc.source.core_schema import resolve
from tsc.source.route import Route

CHARACTERS = st.characters(exclude_categories=["Cs"])
WORDS = st.text("abcdefgh_", min_size=1, max_size=6)
STRINGS = st.one_of(
    WORDS,
    st.text(st.sampled_from("ab 0'\"\\#:,[]{}()\n\té日😀\u2028"), max_size=12),
    st.text(CHARACTERS, max_size=8),
    st.sampled_from(["on", "no", "true", "4:12", "010", "1e3", "~", "", "<<", "cdiv(m, 64)", "a: b", "x #y"]),
)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.booleans())
LEAVES = st.one_of(STRINGS, NUMBERS)
KEYS = st.one_of(WORDS, WORDS, WORDS, STRINGS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)

_BARE = re.compile(r"[a-h_][a-h_ ]*[a-h_]|[a-h_]")


@dataclass
class Writer:
    """A text in the making, and the range of each value and key that is in it already.

    `choose` picks one of several ways to write something; strings come with their indentation.
    """

    choose: Callable[[int], int]
    parts: list[str] = field(default_factory=list)
    at: int = 0
    values: dict[Route, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Route, tuple[int, int]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def put(self, text: str) -> tuple[int, int]:
        self.parts.append(text)
        self.at += len(text)
        return self.at - len(text), self.at

    def comment(self) -> None:
        if self.choose(4) == 0:
            self.put(' # it\'s a "comment"')


def escaped(text: str) -> str:
    """Write a double-quoted string; the escapes are those that YAML and TOML share."""
    out = []
    for character in text:
        code = ord(character)
        if character in '"\\':
            out.append("\\" + character)
        elif character in "\n\t":
            out.append({"\n": "\\n", "\t": "\\t"}[character])
        elif code < 32 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF):
            out.append(f"\\u{code:04x}")
        elif code > 0xFFFF and code % 2:
            out.append(f"\\U{code:08x}")
        else:
            out.append(character)
    return '"' + "".join(out) + '"'


def printable(text: str) -> bool:
    return (
        escaped(text.replace('"', "").replace("\\", ""))
        == '"' + text.replace('"', "").replace("\\", "") + '"'
    )


def write_yaml(data: dict[str, object], seed: int) -> Writer:
    choose = Random(seed).randrange
    writer = Writer(choose)
    if choose(4) == 0:
        writer.put("%YAML 1.2\n---\n" if choose(2) else "# first\n")
    _yaml_mapping(writer, data, (), 0)
    return writer


def _yaml_mapping(writer: Writer, data: dict[str, object], route: Route, indent: int) -> None:
    for key, value in data.items():
        writer.put(" " * indent)
        _yaml_key(writer, key, (*route, key))
        writer.put(":")
        _yaml_block(writer, value, (*route, key), indent)


def _yaml_sequence(writer: Writer, data: list[object], route: Route, indent: int) -> None:
    for index, value in enumerate(data):
        writer.put(" " * indent + "-")
        _yaml_block(writer, value, (*route, index), indent)


def _yaml_block(writer: Writer, value: object, route: Route, indent: int) -> None:
    """Write what follows a `:` or a `-` of a block, the end of the line included."""
    nested = isinstance(value, dict | list) and value and writer.choose(3)
    if nested:
        writer.comment()
        writer.put("\n")
        inner = indent + 1 + writer.choose(3)
        if isinstance(value, dict):
            _yaml_mapping(writer, value, route, inner)
        elif isinstance(value, list):
            _yaml_sequence(writer, value, route, inner)
        return
    writer.put(" " * (1 + writer.choose(2)))
    if isinstance(value, str) and _literal(value) and writer.choose(2):
        start = writer.put("|\n" if value.endswith("\n") else "|-\n")[0]
        for line in value.removesuffix("\n").split("\n"):
            writer.put(" " * (indent + 2) + line + "\n")
        writer.values[route] = (start, writer.at - 1)
        return
    _yaml_flow(writer, value, route, flow=False)
    writer.comment()
    writer.put("\n")


def _literal(text: str) -> bool:
    lines = text.removesuffix("\n").split("\n")
    inside = all(line and line[0] not in " \t" and line.strip() == line and printable(line) for line in lines)
    return inside and "\r" not in text


def _yaml_flow(writer: Writer, value: object, route: Route, *, flow: bool = True) -> None:
    if isinstance(value, dict | list):
        start = writer.put("{" if isinstance(value, dict) else "[")[0]
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for number, (step, inner) in enumerate(steps):
            if number:
                writer.put(", ")
            if isinstance(value, dict):
                _yaml_key(writer, str(step), (*route, step))
                writer.put(": ")
            _yaml_flow(writer, inner, (*route, step))
        end = writer.put("}" if isinstance(value, dict) else "]")[1]
        writer.values[route] = (start, end)
    else:
        writer.values[route] = writer.put(_yaml_scalar(writer, value))


def _yaml_key(writer: Writer, key: str, route: Route) -> None:
    writer.keys[route] = writer.put(_yaml_scalar(writer, key))


def _yaml_scalar(writer: Writer, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if not isinstance(value, str):
        return repr(value)
    style = writer.choose(3)
    if style == 0 and _BARE.fullmatch(value) and resolve(value) == value:
        return value
    if style == 1 and printable(value) and value == value.strip():
        return "'" + value.replace("'", "''") + "'"
    return escaped(value)


def write_toml(data: dict[str, object], seed: int) -> Writer:
    choose = Random(seed).randrange
    writer = Writer(choose)
    if choose(4) == 0:
        writer.put("#:schema ../schema/tsc.json\n\n")
    _toml_table(writer, data, ())
    return writer


def _toml_table(writer: Writer, data: dict[str, object], route: Route) -> None:
    """Write the pairs of a table, then its tables under headers of their own."""
    headed = {key for key, value in data.items() if _headed(value) and writer.choose(2)}
    for key, value in data.items():
        if key in headed:
            continue
        _toml_key(writer, key, (*route, key))
        writer.put("=" if writer.choose(2) else " = ")
        _toml_value(writer, value, (*route, key))
        writer.comment()
        writer.put("\n")
    for key, value in data.items():
        inner = (*route, key)
        if key in headed and isinstance(value, dict):
            _toml_header(writer, inner, "[", "]")
            _toml_table(writer, value, inner)
        elif key in headed and isinstance(value, list):
            for index, item in enumerate(value):
                _toml_header(writer, inner, "[[", "]]", first=index == 0)
                _toml_table(writer, item, (*inner, index))


def _headed(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    )


def _toml_header(writer: Writer, route: Route, opening: str, closing: str, *, first: bool = True) -> None:
    writer.put(opening)
    names = [(at, step) for at, step in enumerate(route) if isinstance(step, str)]
    for number, (at, step) in enumerate(names):
        if number:
            writer.put(".")
        place = writer.put(_toml_name(writer, step))
        if at == len(route) - 1 and first:
            writer.keys[route] = place
    writer.put(closing)
    writer.comment()
    writer.put("\n")


def _toml_key(writer: Writer, key: str, route: Route) -> None:
    writer.keys[route] = writer.put(_toml_name(writer, key))


def _toml_name(writer: Writer, key: str) -> str:
    if re.fullmatch(r"[a-h_]+", key) and writer.choose(3):
        return key
    if printable(key) and "'" not in key and writer.choose(2):
        return f"'{key}'"
    return escaped(key)


def _toml_value(writer: Writer, value: object, route: Route, *, inline: bool = False) -> None:
    if isinstance(value, dict):
        start = writer.put("{")[0]
        for number, (key, inner) in enumerate(value.items()):
            writer.put(", " if number else " ")
            _toml_key(writer, key, (*route, key))
            writer.put(" = ")
            _toml_value(writer, inner, (*route, key), inline=True)
        writer.values[route] = (start, writer.put("}")[1])
    elif isinstance(value, list):
        start = writer.put("[")[0]
        for index, inner in enumerate(value):
            writer.put("\n  " if writer.choose(3) == 0 else "")
            _toml_value(writer, inner, (*route, index), inline=inline)
            writer.put(", ")
        writer.values[route] = (start, writer.put("]")[1])
    else:
        writer.values[route] = writer.put(_toml_scalar(writer, value))


def _toml_scalar(writer: Writer, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    style = writer.choose(4)
    if style == 0 and printable(value) and "'" not in value:
        return f"'{value}'"
    if style == 1 and all(printable(line) for line in value.split("\n")) and "'" not in value:
        return f"'''\n{value}'''"
    if style == 2:
        return '""' + escaped("\n" + value).replace("\\n", "\n") + '""'
    return escaped(value)
