"""`stmatrix`: a fragment into shared memory, 8x8 blocks at a time."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.parts import part_of

TOGETHER = 16  # columns that an instruction stores


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
        lowering.refuse(f"`stmatrix` stores matrices of 16-bit elements, and `{buffer.text}` is none")
    if fragment.dtype != "f32" and fragment.dtype != buffer.dtype:
        lowering.refuse(f"`stmatrix` makes no `{buffer.dtype}` of `{fragment.dtype}`; `convert` goes between")
    part = part_of(lowering, buffer, fragment, step.at)
    to_row, to_column = part.rows.to, part.columns.to
    if buffer.transposed:
        to_row, to_column = to_column, to_row
    elif part.columns.step % TOGETHER:
        lowering.refuse(f"`{buffer.text}` is not filled from a multiple of {TOGETHER} columns on")
    return {
        "transposed": "_transposed" if buffer.transposed else "",
        "row": part.rows.first,
        "column": part.columns.first,
        "rows": part.rows.count,
        "columns": part.columns.count,
        "view": buffer.view,
        "source": fragment.name,
        "to_row": to_row,
        "to_column": to_column,
        "only": part.only,
    }


OP = Operation(
    model=Stmatrix,
    accesses=(touches("from_", "read", "registers"), touches("stmatrix", "write", "smem")),
    template=TEMPLATE,
    bind=bind,
)
