"""What an order is: from a number to the coordinates of a tile, said once in the expression language.

Numbers and coordinates count units, which are the clusters of a kernel (single CTAs without clusters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tsc.expr import Expr, parse
from tsc.model import Model

INDEX = "index"
"""The number of a unit, from 0."""


def units(axis: str) -> str:
    """Return the name of an axis' extent in units; axes may be called as any other name of a walk is."""
    return f"units.{axis}"


@dataclass(frozen=True, slots=True)
class Let:
    """A named step of a walk. Its value is never negative and, like each step on the way to it, never more
    than there are units, so that where these fit 32 bits all of a walk does.
    """

    name: str
    value: Expr

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it gives."""
        return (self.name,)

    @property
    def free(self) -> frozenset[str]:
        """The names that it mentions."""
        return self.value.free


@dataclass(frozen=True, slots=True)
class Curve:
    """A step that needs a loop: a device function, which stands in the header of its name, and its twin.

    Both take a number and `extents`, and give as many values as there are `names`. `every` takes the extents
    and yields, piece by piece, what the twin gives for 0, 1, 2, ...
    """

    names: tuple[str, ...]
    function: str
    number: Expr
    extents: tuple[Expr, ...]
    twin: Callable[..., tuple[int, ...]]
    every: Callable[..., Iterable[Iterable[tuple[int, ...]]]]

    @property
    def free(self) -> frozenset[str]:
        """The names that it mentions."""
        return self.number.free.union(*(extent.free for extent in self.extents))


@dataclass(frozen=True, slots=True)
class Walk:
    """An order over given axes: steps over `index`, `units.<axis>` and the options, then the coordinates.

    `options` are expressions of the spec by their names in the walk, `tables` likewise i32 params of it.
    What a table says of an axis (`listed`, by the name of the step that reads it) may be no unit at all.
    """

    steps: tuple[Let | Curve, ...]
    coordinates: Mapping[str, Expr]
    options: Mapping[str, Expr] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)

    def prepared(self) -> frozenset[str]:
        """Return the names of those steps that are the same for all numbers."""
        found: set[str] = set()
        late = {INDEX, *self.tables}
        for step in self.steps:
            if step.free & late:
                late.update(step.names)
            else:
                found.update(step.names)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the language: its model, and its walk over the axes of a queue, in their written order.

    `comment` says in half a sentence how it goes.
    """

    kind: str
    model: type[Model]
    walk: Callable[[Any, tuple[str, ...]], Walk]
    comment: Callable[[Any], str]


def unravel(axes: tuple[str, ...], name: str) -> tuple[tuple[Let, ...], dict[str, Expr]]:
    """Return the coordinates of a number of which later axes run faster, and the steps to them."""
    lets: list[Let] = []
    coordinates: dict[str, Expr] = {}
    for axis in axes[:0:-1]:
        coordinates[axis] = parse(f"{name} % {units(axis)}")
        lets.append(Let(f"above_{axis}", parse(f"{name} // {units(axis)}")))
        name = lets[-1].name
    for axis in axes[:1]:
        coordinates[axis] = parse(name)
    return tuple(lets), {axis: coordinates[axis] for axis in axes}


@dataclass(frozen=True, slots=True)
class Plane:
    """The two axes that an order walks, and what rides outside: `spot` numbers the units of a plane."""

    along: str
    other: str
    spot: str
    lets: tuple[Let, ...]
    outside: Mapping[str, Expr]


def plane(axes: tuple[str, ...], along: str) -> Plane | None:
    """Pair an axis with the fastest of the others; those that are left run slower, in their written order.

    Nothing where there is one axis alone.
    """
    others = [axis for axis in axes if axis != along]
    if not others:
        return None
    other, rest = others[-1], tuple(others[:-1])
    if not rest:
        return Plane(along, other, INDEX, (), {})
    lets = [
        Let("plane", parse(f"{units(along)} * {units(other)}")),
        Let("layer", parse(f"{INDEX} // plane")),
        Let("spot", parse(f"{INDEX} % plane")),
    ]
    inner, outside = unravel(rest, "layer")
    return Plane(along, other, "spot", (*lets, *inner), outside)


def strips(spot: str, along: str, other: str, size: str) -> tuple[Let, ...]:
    """Cut `along` into strips of at most `group` units, the last one ragged.

    `size` becomes the width of a whole strip, `width` that of the strip at hand; `strip` counts strips and
    `inner` the units in one. The width is one of two that are known before, so that nothing is ever divided
    by a number that has just been computed.
    """
    return (
        Let(size, parse(f"min(group, {along})")),
        Let("band", parse(f"{size} * {other}")),
        Let("whole", parse(f"{along} // {size}")),
        Let("tail", parse(f"max(1, {along} % {size})")),
        Let("strip", parse(f"{spot} // band")),
        Let("inner", parse(f"{spot} % band")),
        Let("width", parse(f"{size} if strip < whole else tail")),
    )
