"""`store`: from registers into a tensor or a buffer."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Operation, StepModel, touches


class Store(StepModel):
    """Write a fragment, or each thread its own values; outside a tensor nothing is written."""

    verb: ClassVar[str] = "store"

    store: Operand
    """A tensor or a buffer."""
    from_: Operand = Field(alias="from")
    """The registers."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element; zeros if left out."""
    rows: Expression | None = None
    """Only so many leading rows are written."""
    cache: Cache = "normal"
    """L2 eviction policy."""


OP = Operation(
    model=Store,
    accesses=(touches("from_", "read", "registers"), touches("store", "write", "tensor", "smem")),
)
