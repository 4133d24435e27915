"""`ldmatrix`: shared memory into a fragment, 8x8 blocks at a time."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.parts import matrix_part


class Ldmatrix(StepModel):
    """Load (a part of) a fragment of 16-bit elements."""

    verb: ClassVar[str] = "ldmatrix"

    ldmatrix: Operand
    """The fragment."""
    from_: Operand = Field(alias="from")
    """The buffer."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


TEMPLATE = """
load_matrix{{ transposed }}<{{ part }}>({{ fragment }}, {{ view }}, {{ row }}, {{ column }});
"""


def bind(step: Ldmatrix, lowering: Lowering) -> dict[str, Any]:
    """Find which part of a warpgroup's share comes from where in the buffer."""
    fragment, buffer = lowering.fragment(step.ldmatrix), lowering.buffer(step.from_, "read")
    if fragment.dtype != buffer.dtype:
        lowering.refuse(f"`ldmatrix` makes no `{fragment.dtype}` of `{buffer.dtype}`; `convert` goes between")
    return matrix_part(lowering, step.verb, buffer, fragment, step.at)


OP = Operation(
    model=Ldmatrix,
    accesses=(touches("from_", "read", "smem"), touches("ldmatrix", "write", "registers")),
    template=TEMPLATE,
    bind=bind,
)
