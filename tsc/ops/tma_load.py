"""`tma_load`: a box of a tensor into shared memory by the tensor memory accelerator."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Name, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches


class TmaLoad(StepModel):
    """Load a box of a tensor through a tensor map; what lies outside is filled."""

    verb: ClassVar[str] = "tma_load"

    tma_load: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the box."""
    multicast: Name | None = None
    """Cluster axis along which all CTAs receive the same box."""
    share: Literal["split", "leader"] = "split"
    """With `multicast`: each CTA loads its share, or rank 0 loads all."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""
    fill: Literal["zero", "nan"] = Field(default="zero")
    """What elements outside the tensor read as."""


OP = Operation(
    model=TmaLoad,
    accesses=(
        touches("tma_load", "read", "tensor", engine=Engine.TMA),
        touches("to", "write", "smem", engine=Engine.TMA),
    ),
    issuer="one",
)
