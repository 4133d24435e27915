"""The space of a spec's `tune`: its points, and those that a condition on constants throws out at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tsc.expr import EvalError, Expr, evaluate, show
from tsc.spec.document import Tune
from tsc.spec.overrides import Define, Overrides, Setting, UsageError, read_route

DEFAULT = "default"
"""The point that changes nothing: the spec's own values, which every other one is held against."""


@dataclass(frozen=True, slots=True)
class Point:
    """One choice of every value that is tried; `values` maps constants and routes to them."""

    name: str
    values: Mapping[str, Any]

    def words(self) -> str:
        """The choice on one line."""
        return " ".join(f"{key}={value}" for key, value in self.values.items()) or "the spec's own values"


def points(tune: Tune) -> Iterator[Point]:
    """The spec's own values, then every combination of those tried, the last one changing fastest."""
    yield Point(DEFAULT, {})
    if tune.try_:
        for number, values in enumerate(itertools.product(*tune.try_.values())):
            yield Point(f"p{number:04}", dict(zip(tune.try_, values, strict=True)))


def overrides_of(values: Mapping[str, Any], base: Overrides | None = None) -> Overrides:
    """What a point changes, before what the call does. Raises UsageError for a key that is no route."""
    defines, settings = [], []
    for key, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if key.isidentifier() and isinstance(value, int):
            defines.append(Define(key, value, f"-D {key}={text}"))
            continue
        route, end = read_route(key)
        if not route or end != len(key):
            raise UsageError(f"`{key}` is neither a constant nor a route")
        settings.append(Setting(route, value, f"--set {key}={text}"))
    after = base or Overrides()
    return Overrides((*defines, *after.defines), (*settings, *after.settings))


def known(constants: Mapping[str, Any], values: Mapping[str, Any], base: Overrides) -> dict[str, Any]:
    """What conditions may name at a point: constants, and the routes that it sets, after what the call does.

    A value that the call has set at the same place is in force in place of the point's, and one whose place
    it has written as a part of something larger is not known.
    """
    found = {**constants, **values}
    for key in values:
        route = ("constants", key) if key.isidentifier() else read_route(key)[0]
        for define in base.defines:
            if ("constants", define.name) == route:
                found[key] = define.value
        for setting in base.settings:
            if setting.route == route:
                found[key] = setting.value
            elif setting.route == route[: len(setting.route)]:
                found.pop(key, None)
    return found


def unmet(where: tuple[Expr, ...], known: Mapping[str, Any]) -> str:
    """The first condition that the constants do not meet, empty if they meet all that can be worked out."""
    numbers = {name: value for name, value in known.items() if isinstance(value, int)}
    for condition in where:
        try:
            holds = evaluate(condition, numbers)
        except EvalError:
            continue
        if not holds:
            return show(condition)
    return ""
