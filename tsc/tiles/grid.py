"""The tiles of a launch in an order: the Python reference of the generated code, and a listing of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from operator import add, mul
from typing import Any

from tsc.expr import Expr, evaluate, parse, show, substitute
from tsc.expr.evaluator import cdiv
from tsc.tiles.walk import INDEX, Curve, Walk, units

Place = tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """A walk over tiles that are there: `extents` in tiles of one CTA, `cluster` in CTAs along each axis.

    `options` and `tables` are the values of what the walk calls so.
    """

    axes: tuple[str, ...]
    extents: Place
    walk: Walk
    cluster: Place = ()
    options: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Place:
        """CTAs of a cluster along each axis."""
        return self.cluster or (1,) * len(self.axes)

    @cached_property
    def units(self) -> Place:
        """Clusters along each axis, ragged ones included."""
        return tuple(cdiv(extent, size) for extent, size in zip(self.extents, self.sizes, strict=True))

    @property
    def count(self) -> int:
        """How many clusters take tiles."""
        total = 1
        for extent in self.units:
            total *= extent
        return total

    def place(self, index: int) -> Place:
        """Return the coordinates of a unit, in units, by the letter of the walk."""
        env: dict[str, Any] = {**self._known(), INDEX: index}
        for step in self.walk.steps:
            if isinstance(step, Curve):
                given = [evaluate(expr, env) for expr in (step.number, *step.extents)]
                env.update(zip(step.names, step.twin(*given), strict=True))
            else:
                env[step.name] = evaluate(step.value, env)
        return tuple(int(evaluate(self.walk.coordinates[axis], env)) for axis in self.axes)

    def places(self) -> list[Place]:
        """Return the coordinates of all units in the order in which they are taken."""
        if not self.count:
            return []
        known = {_plain(name): value for name, value in self._known().items()}
        # Tables by rows of their own: an element of a foreign array costs more than all the rest.
        every: Callable[..., list[Place]] = _compiled(self.walk, self.axes)
        return every(self.count, **known)

    @cached_property
    def ranks(self) -> tuple[Place, ...]:
        """Where the CTAs of a cluster stand in it, by rank: the first axis runs fastest."""
        found: list[Place] = [()]
        for size in reversed(self.sizes):
            found = [(rank, *rest) for rest in found for rank in range(size)]
        return tuple(found)

    def tiles(self, place: Place) -> list[Place]:
        """Return the tiles of a unit's CTAs by rank; those past a ragged end are outside (`inside`)."""
        if len(place) == 2:
            row, column = place[0] * self.sizes[0], place[1] * self.sizes[1]
            return [(row + a, column + b) for a, b in self.ranks]
        first = tuple(map(mul, place, self.sizes))
        return [tuple(map(add, first, rank)) for rank in self.ranks]

    def inside(self, tile: Place) -> bool:
        """Whether there is such a tile."""
        return all(0 <= at < extent for at, extent in zip(tile, self.extents, strict=True))

    def _known(self) -> dict[str, Any]:
        extents = {units(axis): extent for axis, extent in zip(self.axes, self.units, strict=True)}
        return {**extents, **self.options, **self.tables}


# ---- the walk as Python, whose operators mean the same -----------------------------------------------------


def _compiled(walk: Walk, axes: tuple[str, ...]) -> Callable[..., list[Place]]:
    """Make a function of a walk that lists all of it: what is the same for all numbers is computed once."""
    prepared = walk.prepared()
    known = [_plain(units(axis)) for axis in axes] + [*walk.options, *walk.tables]
    lines, loop = [], []
    curves: list[Callable[..., object]] = []
    for step in walk.steps:
        if isinstance(step, Curve):
            curve = f"every_{len(curves)}"
            curves.append(step.every)
            lines.append(f"curve = list(flat({curve}({', '.join(map(_python, step.extents))})))")
            loop.append(f"{', '.join(step.names)} = curve[{_python(step.number)}]")
        else:
            target = lines if step.name in prepared else loop
            target.append(f"{step.name} = {_python(step.value)}")
    place = "".join(f"{_python(walk.coordinates[axis])}, " for axis in axes)
    head = f"def every(count, {', '.join(known)}):"
    body = [*lines, "found = []", f"for {INDEX} in range(count):", *(f"  {line}" for line in loop)]
    text = "\n  ".join([head, *body, f"  found.append(({place}))", "return found"])
    return _function(text, tuple(curves))


@lru_cache(maxsize=64)
def _function(text: str, curves: tuple[Callable[..., object], ...]) -> Callable[..., list[Place]]:
    scope: dict[str, Any] = {"cdiv": cdiv, "true": True, "false": False, "flat": chain.from_iterable}
    scope.update((f"every_{number}", curve) for number, curve in enumerate(curves))
    exec(compile(text, "<walk>", "exec"), scope)
    made: Callable[..., list[Place]] = scope["every"]
    return made


def _plain(name: str) -> str:
    return name.replace(".", "_")


def _python(expr: Expr) -> str:
    renamed = {name: parse(_plain(name)) for name in expr.free if "." in name}
    return show(substitute(expr, renamed))


__all__ = ["Grid", "Place"]
