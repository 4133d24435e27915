"""`stmatrix`: a fragment into shared memory, 8x8 blocks at a time."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches


class Stmatrix(StepModel):
    """Store (a part of) a fragment as 16-bit elements."""

    verb: ClassVar[str] = "stmatrix"

    stmatrix: Operand
    """The buffer."""
    from_: Operand = Field(alias="from")
    """The fragment."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


OP = Operation(
    model=Stmatrix,
    accesses=(touches("from_", "read", "registers"), touches("stmatrix", "write", "smem")),
)
