"""`ldmatrix`: shared memory into a fragment, 8x8 blocks at a time."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches


class Ldmatrix(StepModel):
    """Load (a part of) a fragment of 16-bit elements."""

    verb: ClassVar[str] = "ldmatrix"

    ldmatrix: Operand
    """The fragment."""
    from_: Operand = Field(alias="from")
    """The buffer."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


OP = Operation(
    model=Ldmatrix,
    accesses=(touches("from_", "read", "smem"), touches("ldmatrix", "write", "registers")),
)
