"""Which part of a warpgroup's share of a fragment goes where in a buffer, whichever of the two is larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from tsc.expr import Expr, build
from tsc.expr.tree import Int
from tsc.ops.inside import not_below, not_beyond
from tsc.ops.lowering import BufferOperand, FragmentOperand, Lowering

UNITS = (64, 8)  # rows and columns that a fragment is made of
TOGETHER = 16  # columns that one matrix instruction moves


@dataclass(frozen=True, slots=True)
class Along:
    """A part along one dimension: its first value in the own share and how many, where that is in the buffer
    (C++) and a divisor of it, and which warpgroups take part (C++, empty: all).
    """

    first: int
    count: int
    to: str
    step: int
    only: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part, along rows and columns of the fragment."""

    rows: Along
    columns: Along

    @property
    def only(self) -> str:
        """Which warpgroups take part (C++, empty: all)."""
        return " && ".join(along.only for along in (self.rows, self.columns) if along.only)


def part_of(
    lowering: Lowering, buffer: BufferOperand, fragment: FragmentOperand, at: Sequence[Expr] | None
) -> Part:
    """Plan what moves between a buffer of two dimensions and a fragment; `at` is in the larger one."""
    where = lowering.coordinates(at, 2)
    shape = buffer.shape[::-1] if buffer.transposed else buffer.shape
    by_rows = fragment.split == "rows"
    return Part(
        _along(lowering, buffer, fragment, where[0], shape[0], 0, by_rows),
        _along(lowering, buffer, fragment, where[1], shape[1], 1, not by_rows),
    )


def _along(
    lowering: Lowering,
    buffer: BufferOperand,
    fragment: FragmentOperand,
    at: Expr,
    extent: int,
    dim: int,
    shared_out: bool,
) -> Along:
    whole, unit = fragment.shape[dim], UNITS[dim]
    share = (fragment.rows, fragment.columns)[dim]
    what = "rows" if dim == 0 else "columns"
    shared_out = shared_out and fragment.warpgroups > 1
    if extent >= whole:
        # The buffer is the larger one, and has the fragment at a place of its own.
        limit = build(Int(extent))
        if not (lowering.proves(not_below(at)) and lowering.proves(not_beyond(at, whole, limit))):
            lowering.refuse(
                f"{whole} {what} of `{fragment.name}` from `{at.text}` on are not shown to lie inside the "
                f"{extent} of `{buffer.text}`"
            )
        text, step = lowering.text(at), lowering.multiple(at)
        if shared_out:
            text = fragment.first if text == "0" else f"{text} + {fragment.first}"
            step = gcd(step, share)
        return Along(0, share, text, step or 2 * unit, "")
    first = lowering.constant(at)
    if first % unit or extent % unit or not 0 <= first <= whole - extent:
        lowering.refuse(f"`{buffer.text}` takes no {extent} {what} of `{fragment.name}` from {first} on")
    if not shared_out:
        return Along(first, extent, "0", 2 * unit, "")
    begin, end = first // share, (first + extent - 1) // share
    if begin == end:
        return Along(first % share, extent, "0", 2 * unit, f"{fragment.group} == {begin}")
    if first % share or extent % share:
        lowering.refuse(
            f"{extent} {what} from {first} on are no whole shares of warpgroups, of {share} {what} each"
        )
    only = f"{fragment.group} >= {begin} && {fragment.group} <= {end}"
    to = fragment.first if begin == 0 else f"({fragment.group} - {begin}) * {share}"
    return Along(0, share, to, share, only)


def matrix_part(
    lowering: Lowering,
    verb: str,
    buffer: BufferOperand,
    fragment: FragmentOperand,
    at: Sequence[Expr] | None,
) -> dict[str, Any]:
    """Return the fields of `stmatrix` and `ldmatrix`: the part, view, and row and column in the buffer."""
    if len(buffer.shape) != 2 or buffer.bits != 16:
        lowering.refuse(f"`{verb}` moves matrices of 16-bit elements, and `{buffer.text}` is none")
    part = part_of(lowering, buffer, fragment, at)
    row, column = part.rows.to, part.columns.to
    together = 8 if buffer.transposed else TOGETHER
    if buffer.transposed:
        row, column = column, row
    if (part.rows if buffer.transposed else part.columns).step % together:
        lowering.refuse(f"`{verb}` begins at multiples of {together} elements of a row of `{buffer.text}`")
    numbers = (part.rows.first, part.columns.first, part.rows.count, part.columns.count)
    return {
        "transposed": "_transposed" if buffer.transposed else "",
        "part": ", ".join(map(str, numbers)),
        "view": buffer.view,
        "fragment": fragment.name,
        "row": row,
        "column": column,
        "only": part.only,
    }
