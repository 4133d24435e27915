"""`cp_async`: a box of a tensor into shared memory by the threads of the task, asynchronously."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class CpAsync(StepModel):
    """Copy a box in pieces of 16 bytes; what lies outside the tensor is filled with zeros."""

    verb: ClassVar[str] = "cp_async"

    cp_async: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the box."""


OP = Operation(
    model=CpAsync,
    accesses=(
        touches("cp_async", "read", "tensor", engine=Engine.CP_ASYNC),
        touches("to", "write", "smem", engine=Engine.CP_ASYNC),
    ),
)
