"""`stmatrix`: a fragment into shared memory, 8x8 blocks at a time."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.parts import matrix_part


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
store_matrix{{ transposed }}<{{ part }}>({{ view }}, {{ fragment }}, {{ row }}, {{ column }});
"""


def bind(step: Stmatrix, lowering: Lowering) -> dict[str, Any]:
    """Find which part of a warpgroup's share goes where in the buffer."""
    fragment, buffer = lowering.fragment(step.from_), lowering.buffer(step.stmatrix, "write")
    if fragment.dtype not in ("f32", buffer.dtype):
        lowering.refuse(f"`stmatrix` makes no `{buffer.dtype}` of `{fragment.dtype}`; `convert` goes between")
    return matrix_part(lowering, step.verb, buffer, fragment, step.at)


OP = Operation(
    model=Stmatrix,
    accesses=(touches("from_", "read", "registers"), touches("stmatrix", "write", "smem")),
    template=TEMPLATE,
    bind=bind,
)
