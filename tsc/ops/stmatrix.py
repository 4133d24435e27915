"""`stmatrix`: a fragment into shared memory, 8x8 blocks at a time."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.expr import Expr
from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import BufferOperand, FragmentOperand, Lowering

ROWS, COLUMNS = 64, 16  # that a warpgroup stores at once


class Stmatrix(StepModel):
    """Store (a part of) a fragment as 16-bit elements."""

    verb: ClassVar[str] = "stmatrix"

    stmatrix: Operand
    """The buffer."""
    from_: Operand = Field(alias="from")
    """The fragment."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


TEMPLATE = """
store_matrix{{ transposed }}<{{ row }}, {{ column }}, {{ rows }}, {{ columns }}>(
{{- view }}, {{ source }}, {{ to_row }}, {{ to_column }});
"""


def bind(step: Stmatrix, lowering: Lowering) -> dict[str, Any]:
    """Find which part of a warpgroup's share goes where in the buffer."""
    fragment, buffer = lowering.fragment(step.from_), lowering.buffer(step.stmatrix, "write")
    if len(buffer.shape) != 2 or buffer.bits != 16 or fragment.bits not in (16, 32):
        lowering.refuse(f"`stmatrix` stores matrices of 16-bit elements, and `{buffer.text}` is no such thing")
    if fragment.dtype != "f32" and fragment.dtype != buffer.dtype:
        lowering.refuse(f"`stmatrix` makes no `{buffer.dtype}` of `{fragment.dtype}`; `convert` goes between")
    at = lowering.coordinates(step.at, 2)
    shape = buffer.shape[::-1] if buffer.transposed else buffer.shape
    by_rows = fragment.split == "rows"
    rows = _part(lowering, buffer, fragment, at[0], shape[0], 0, by_rows, ROWS)
    columns = _part(lowering, buffer, fragment, at[1], shape[1], 1, not by_rows, COLUMNS // 2)
    to_row, to_column = rows["to"], columns["to"]
    if buffer.transposed:
        to_row, to_column = to_column, to_row
    elif columns["step"] % COLUMNS:
        lowering.refuse(f"`{buffer.text}` is not filled from a multiple of {COLUMNS} columns on")
    only = " && ".join(text for text in (rows["only"], columns["only"]) if text)
    return {
        "transposed": "_transposed" if buffer.transposed else "",
        "row": rows["first"],
        "column": columns["first"],
        "rows": rows["count"],
        "columns": columns["count"],
        "view": buffer.view,
        "source": fragment.name,
        "to_row": to_row,
        "to_column": to_column,
        "only": only,
    }


def _part(
    lowering: Lowering,
    buffer: BufferOperand,
    fragment: FragmentOperand,
    at: Expr,
    extent: int,
    dim: int,
    shared_out: bool,
    unit: int,
) -> dict[str, Any]:
    """Return, along one dimension, the part of the own share: its first value and how many (build-time
    numbers), where it goes in the buffer (C++), a divisor of that, and which warpgroups take part.
    """
    whole = fragment.shape[dim]
    share = (fragment.rows, fragment.columns)[dim]
    if extent >= whole:
        # The buffer is the larger one, and takes the fragment at a place of its own.
        text, step = lowering.text(at), lowering.multiple(at)
        if shared_out and fragment.warpgroups > 1:
            text = fragment.first if text == "0" else f"{text} + {fragment.first}"
            step = _divisor(step, share)
        return {"first": 0, "count": share, "to": text, "step": step or unit * 2, "only": ""}
    first = lowering.constant(at)
    what = "rows" if dim == 0 else "columns"
    if first % unit or extent % unit or not 0 <= first <= whole - extent:
        lowering.refuse(f"`{buffer.text}` takes no {extent} {what} of `{fragment.name}` from {first} on")
    if not shared_out or fragment.warpgroups == 1:
        return {"first": first, "count": extent, "to": "0", "step": 2 * unit, "only": ""}
    begin, end = first // share, (first + extent - 1) // share
    if begin == end:
        only = f"{fragment.group} == {begin}"
        return {"first": first % share, "count": extent, "to": "0", "step": 2 * unit, "only": only}
    if first % share or extent % share:
        lowering.refuse(
            f"{extent} {what} from {first} on are no whole shares of warpgroups, of {share} {what} each"
        )
    only = f"{fragment.group} >= {begin} && {fragment.group} <= {end}"
    to = f"({fragment.group} - {begin}) * {share}"
    return {"first": 0, "count": share, "to": to, "step": share, "only": only}


def _divisor(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


OP = Operation(
    model=Stmatrix,
    accesses=(touches("from_", "read", "registers"), touches("stmatrix", "write", "smem")),
    template=TEMPLATE,
    bind=bind,
)
