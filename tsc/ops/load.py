"""`load`: from a tensor or a buffer into registers."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Operation, StepModel, touches


class Load(StepModel):
    """Read a fragment, or each thread its own values; outside a tensor they read as zero."""

    verb: ClassVar[str] = "load"

    load: Operand
    """The registers."""
    from_: Operand = Field(alias="from")
    """A tensor or a buffer."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element; zeros if left out."""
    cache: Cache = "normal"
    """L2 eviction policy."""


OP = Operation(
    model=Load,
    accesses=(touches("from_", "read", "tensor", "smem"), touches("load", "write", "registers")),
)
