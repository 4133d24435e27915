"""`bulk_load`: one contiguous piece of a tensor into shared memory, without a tensor map."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Expression, Name, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches


class BulkLoad(StepModel):
    """Load one contiguous piece; it must lie inside the tensor, in multiples of 16 bytes."""

    verb: ClassVar[str] = "bulk_load"

    bulk_load: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the extent of the piece."""
    rows: Expression | None = None
    """Only so many leading rows (elements, for a buffer of one dimension) are copied."""
    multicast: Name | None = None
    """Cluster axis along which all CTAs receive the same piece."""
    cache: Cache = "normal"
    """L2 eviction policy."""


OP = Operation(
    model=BulkLoad,
    accesses=(
        touches("bulk_load", "read", "tensor", engine=Engine.TMA),
        touches("to", "write", "smem", engine=Engine.TMA),
    ),
    issuer="one",
)
