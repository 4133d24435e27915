"""`tcgen05_cp`: shared memory into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class Tcgen05Cp(StepModel):
    """Copy a buffer into tensor memory, as for scale factors."""

    verb: ClassVar[str] = "tcgen05_cp"

    tcgen05_cp: Operand
    """The buffer in tensor memory."""
    from_: Operand = Field(alias="from")
    """The buffer in shared memory."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of the two; zeros if left out."""


OP = Operation(
    model=Tcgen05Cp,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.TCGEN05),
        touches("tcgen05_cp", "write", "tmem", engine=Engine.TCGEN05),
    ),
    issuer="one",
)
