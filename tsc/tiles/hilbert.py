"""`hilbert`: along a Hilbert curve over the last two axes, drawn into any rectangle, every step to a
neighbour.

Written out in `codegen/include/hilbert.cuh` for the device; `place` is its twin, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

from tsc.expr import parse
from tsc.model import Model
from tsc.tiles.linear import LinearOrder
from tsc.tiles.linear import walk as linear
from tsc.tiles.walk import Curve, Order, Walk, plane, units

Pairs = tuple[tuple[int, int], ...]


class HilbertOrder(Model):
    """Along a Hilbert curve."""

    kind: Literal["hilbert"]


def walk(model: HilbertOrder, axes: tuple[str, ...]) -> Walk:
    """Look a number up on the curve."""
    found = plane(axes, axes[-2]) if len(axes) > 1 else None
    if found is None:
        return linear(LinearOrder.model_construct(kind="linear"), axes)
    rows, columns = units(found.along), units(found.other)
    extents = (parse(rows), parse(columns))
    curve = Curve(("row", "column"), "hilbert", parse(found.spot), extents, place, every)
    coordinates = {found.along: parse("row"), found.other: parse("column")}
    return Walk((*found.lets, curve), {**found.outside, **coordinates})


def place(index: int, rows: int, columns: int) -> tuple[int, int]:
    """Return row and column of a number on the curve through `rows` x `columns` units.

    A piece of the curve crosses a rectangle, `long` ahead and `wide` aside, and ends at the corner that lies
    straight ahead of its first. That can be done by steps to neighbours if `long` is even, if both are odd
    and `long` is not 1, or if `wide` is 1; every cut here keeps it so, because what it cuts off is even.
    """
    ahead, aside = ((1, 0), (0, 1)) if _down(rows, columns) else ((0, 1), (1, 0))
    long, wide = (rows, columns) if _down(rows, columns) else (columns, rows)
    row = column = 0
    while wide > 1:
        if long > wide + wide // 2:
            cut = long // 2
            cut += cut & 1
            if index < cut * wide:
                long = cut
            else:
                index -= cut * wide
                row, column = row + ahead[0] * cut, column + ahead[1] * cut
                long -= cut
            continue
        half, cut = long // 2, wide // 2
        cut += cut & 1 if wide > 2 else 0
        first, second = cut * half, long * (wide - cut)
        if index < first:
            ahead, aside = aside, ahead
            long, wide = cut, half
        elif index < first + second:
            index -= first
            row, column = row + aside[0] * cut, column + aside[1] * cut
            wide -= cut
        else:
            index -= first + second
            row += ahead[0] * (long - 1) + aside[0] * (cut - 1)
            column += ahead[1] * (long - 1) + aside[1] * (cut - 1)
            ahead, aside = (-aside[0], -aside[1]), (-ahead[0], -ahead[1])
            long, wide = cut, long - half
    return row + ahead[0] * index, column + ahead[1] * index


def _down(rows: int, columns: int) -> bool:
    """Whether the curve ends below its beginning: along the longer side, if a curve by neighbours can."""
    odd_rows, odd_columns = rows % 2 == 1, columns % 2 == 1
    if odd_rows != odd_columns:
        return odd_columns if rows > 1 and columns > 1 else rows > columns
    return rows >= columns


def every(rows: int, columns: int) -> Iterator[Pairs]:
    """Yield the whole curve, piece by piece; equal to `place` for each number and much faster."""
    down = _down(rows, columns)
    long, wide = (rows, columns) if down else (columns, rows)
    pending = [(0, 0, long, wide, ((1, 0), (0, 1)) if down else ((0, 1), (1, 0)))]
    while pending:
        row, column, long, wide, directions = pending.pop()
        if long * wide <= _PIECE:
            yield tuple([(row + a, column + b) for a, b in _piece(long, wide, directions)])
        else:
            for r, c, length, width, turned in reversed(_parts(long, wide, directions)):
                pending.append((row + r, column + c, length, width, turned))


_PIECE = 1024
_Directions = tuple[tuple[int, int], tuple[int, int]]


@cache
def _piece(long: int, wide: int, directions: _Directions) -> Pairs:
    if wide == 1:
        (a, b), _ = directions
        return tuple([(a * i, b * i) for i in range(long)])
    found: list[tuple[int, int]] = []
    for row, column, length, width, turned in _parts(long, wide, directions):
        found += [(row + a, column + b) for a, b in _piece(length, width, turned)]
    return tuple(found)


def _parts(long: int, wide: int, directions: _Directions) -> list[tuple[int, int, int, int, _Directions]]:
    """Cut a piece as `place` does: where the parts begin, their sizes and directions."""
    (ar, ac), (sr, sc) = ahead, aside = directions
    if long > wide + wide // 2:
        cut = long // 2
        cut += cut & 1
        return [(0, 0, cut, wide, directions), (ar * cut, ac * cut, long - cut, wide, directions)]
    half, cut = long // 2, wide // 2
    cut += cut & 1 if wide > 2 else 0
    row, column = ar * (long - 1) + sr * (cut - 1), ac * (long - 1) + sc * (cut - 1)
    return [
        (0, 0, cut, half, (aside, ahead)),
        (sr * cut, sc * cut, long, wide - cut, directions),
        (row, column, cut, long - half, ((-sr, -sc), (-ar, -ac))),
    ]


def _comment(model: HilbertOrder) -> str:
    return "Along a Hilbert curve over the last two axes"


ORDER = Order("hilbert", HilbertOrder, walk, _comment)
