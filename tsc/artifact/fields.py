"""Typed access to decoded JSON: every wrong or missing value is an `ArtifactError` with its route."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from tsc.artifact.error import ArtifactError

_T = TypeVar("_T")
_LONGEST_SHOWN = 60


def damaged(reason: str) -> NoReturn:
    """Refuse the manifest."""
    raise ArtifactError(f"the cubin's manifest is damaged: {reason}")


def show(value: object) -> str:
    """A value as a message shows it, cut where it gets long."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[:_LONGEST_SHOWN]}...`"


def decode(text: bytes) -> object:
    """JSON without what is not JSON: no NaN, no key given twice."""
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        damaged("it is nested too deeply")
    except ValueError as error:
        damaged(f"it is not JSON ({error})")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key is given twice")
    return table


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


class Fields:
    """One JSON object and the route to it."""

    def __init__(self, value: object, route: str = "") -> None:
        if not isinstance(value, dict):
            damaged(f"{f'`{route}`' if route else 'the whole'} is {show(value)}, not an object")
        self._table: dict[str, object] = value
        self._route = route

    def route(self, key: str) -> str:
        """The route to one of the object's values."""
        return f"{self._route}.{key}" if self._route else key

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def value(self, key: str) -> object:
        """A value of any type."""
        if key not in self._table:
            damaged(f"`{self.route(key)}` is missing")
        return self._table[key]

    def text(self, key: str) -> str:
        """A string."""
        return _text(self.value(key), self.route(key))

    def choice(self, key: str, choices: Iterable[_T]) -> _T:
        """One of a few values."""
        value = self.value(key)
        allowed = tuple(choices)
        for one in allowed:
            if type(one) is type(value) and one == value:
                return one
        damaged(f"`{self.route(key)}` is {show(value)}, not one of {', '.join(show(one) for one in allowed)}")

    def flag(self, key: str) -> bool:
        """A boolean."""
        value = self.value(key)
        if not isinstance(value, bool):
            damaged(f"`{self.route(key)}` is {show(value)}, not true or false")
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        """An integer between two ends that both belong."""
        return _integer(self.value(key), self.route(key), low, high)

    def integers(self, key: str, low: int, high: int) -> tuple[int, ...]:
        """A list of such integers."""
        return self.each(key, lambda value, route: _integer(value, route, low, high))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        return self.each(key, _text)

    def triple(self, key: str, low: int, high: int) -> tuple[int, int, int]:
        """Three such integers."""
        values = self.integers(key, low, high)
        if len(values) != 3:
            damaged(f"`{self.route(key)}` has {len(values)} values, not 3")
        return values[0], values[1], values[2]

    def each(self, key: str, read: Callable[[object, str], _T]) -> tuple[_T, ...]:
        """A list whose values are read one by one, each with its route."""
        value = self.value(key)
        route = self.route(key)
        if not isinstance(value, list):
            damaged(f"`{route}` is {show(value)}, not a list")
        return tuple(read(one, f"{route}[{index}]") for index, one in enumerate(value))

    def table(self, key: str, read: Callable[[object, str], _T]) -> dict[str, _T]:
        """An object whose values are read one by one, each with its route."""
        value = self.value(key)
        route = self.route(key)
        if not isinstance(value, dict):
            damaged(f"`{route}` is {show(value)}, not an object")
        return {name: read(one, f"{route}.{name}") for name, one in value.items()}


def _text(value: object, route: str) -> str:
    if not isinstance(value, str):
        damaged(f"`{route}` is {show(value)}, not a string")
    return value


def _integer(value: object, route: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        damaged(f"`{route}` is {show(value)}, not an integer")
    if not low <= value <= high:
        damaged(f"`{route}` is {show(value)}, outside {low:,} to {high:,}")
    return value
