"""What a check says: findings speak of routes, diagnostics of lines and columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from tsc.source.route import Route
from tsc.source.span import Span


class Severity(StrEnum):
    """How much a diagnostic weighs: only an error makes a spec wrong."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


@dataclass(frozen=True, slots=True)
class Rule:
    """The record of one rule: its code `TSC123`, its kebab-case name, and what it says in one line."""

    code: str
    name: str
    severity: Severity
    summary: str
    since: str = "0.1"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document by its route.

    `within` is a range of characters inside a scalar's own text. The readers know places before routes
    exist and set `span`, which then wins.
    """

    route: Route
    part: Literal["value", "key"] = "value"
    within: tuple[int, int] | None = None
    label: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem as a rule or a reader reports it: `rule` is a rule's name, `help` the edit to make."""

    rule: str
    message: str
    place: Place
    related: tuple[Place, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A further place of a diagnostic and what is to be said there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem with its place looked up, ready to be shown."""

    code: str
    name: str
    severity: Severity
    message: str
    file: str
    span: Span
    label: str
    related: tuple[Label, ...]
    help: str
    route: Route
