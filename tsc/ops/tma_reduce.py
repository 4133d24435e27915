"""`tma_reduce`: a box from shared memory combined into a tensor by the tensor memory accelerator."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches


class TmaReduce(StepModel):
    """Add (or take the minimum or maximum of) a box and a tensor, atomically an element."""

    verb: ClassVar[str] = "tma_reduce"

    tma_reduce: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    from_: Operand = Field(alias="from")
    """The buffer to combine; its shape is the box."""
    op: Literal["add", "min", "max"] = "add"
    """How an element is combined with what the tensor holds."""
    rows: Expression | None = None
    """Only so many leading rows are combined."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""


OP = Operation(
    model=TmaReduce,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.STORE),
        touches("tma_reduce", "update", "tensor", engine=Engine.STORE),
    ),
    issuer="one",
)
