"""`tma_store`: a box from shared memory into a tensor by the tensor memory accelerator."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches


class TmaStore(StepModel):
    """Store a box through a tensor map; what lies outside the tensor is not written."""

    verb: ClassVar[str] = "tma_store"

    tma_store: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    from_: Operand = Field(alias="from")
    """The buffer to store; its shape is the box."""
    rows: Expression | None = None
    """Only so many leading rows are written."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""


OP = Operation(
    model=TmaStore,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.STORE),
        touches("tma_store", "write", "tensor", engine=Engine.STORE),
    ),
    issuer="one",
)
