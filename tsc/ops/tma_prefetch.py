"""`tma_prefetch`: a box of a tensor into L2."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class TmaPrefetch(StepModel):
    """Bring a box of a tensor into L2; nothing ever waits for it."""

    verb: ClassVar[str] = "tma_prefetch"

    tma_prefetch: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    box: tuple[Expression, ...]
    """Extents of the box, build-time values; it covers the last dimensions."""


OP = Operation(
    model=TmaPrefetch,
    accesses=(touches("tma_prefetch", "read", "tensor", engine=Engine.PREFETCH),),
    issuer="one",
)
