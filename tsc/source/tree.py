"""The outline of a document: where each value and key stands, beside the plain data it gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tsc.diagnostics.model import Finding

Range = tuple[int, int]
"""Offsets into the text, end exclusive."""

Style = Literal[
    "plain",  # bare text, of one line or folded over several
    "single",  # YAML '...': a quote is doubled
    "double",  # "..." with escapes
    "raw",  # TOML '...': nothing is escaped
    "literal",  # YAML |
    "folded",  # YAML >
    "double-lines",  # TOML three double quotes
    "raw-lines",  # TOML three single quotes
    "mapping",
    "sequence",
    "alias",
]


@dataclass(slots=True)
class Node:
    """One value's place. A mapping's children are by key, a sequence's by index, a scalar has none.

    `target` is what an alias stands for; its children are the target's. `key` is the range of the key
    that leads here, if the parent is a mapping.
    """

    start: int
    end: int
    style: Style
    key: Range | None = None
    children: dict[str | int, Node] | None = None
    target: Node | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """What a reader of one language found in a text: the data, its places, its comments, its faults.

    `root` is None if the text gave no data that later stages could go on with.
    """

    data: object = None
    root: Node | None = None
    comments: tuple[Range, ...] = ()
    findings: tuple[Finding, ...] = field(default=())
