"""When names are known, and the places where expressions stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from tsc.expr import Expr
from tsc.source.route import Route


class Stage(IntEnum):
    """When the value of a name is known (LANGUAGE section 4); later stages may use earlier ones."""

    BUILD = 0
    LAUNCH = 1
    CTA = 2
    TILE = 3
    ITERATION = 4
    VALUE = 5  # tokens and registers: where they are written
    THREAD = 6


@dataclass(frozen=True, slots=True)
class Known:
    """What a name means where it stands."""

    stage: Stage
    kind: Literal[
        "constant",
        "dim",
        "scalar",
        "let",
        "tensor",
        "register",
        "builtin",
        "repeat",
        "for",
        "token",
        "loop",
        "tile",
    ]
    meaning: str


@dataclass(frozen=True, slots=True)
class Site:
    """An expression of the spec: its place, the latest stage it may depend on, the names it can see."""

    route: Route
    expr: Expr
    allowed: Stage
    place: str  # "`stages`", for messages
    scope: Mapping[str, Known]
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An expression with a build-time value that has none, or one that grows too large without its lets."""

    route: Route
    message: str
    within: tuple[int, int] | None = None
    help: str = ""
