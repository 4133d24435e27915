"""`tcgen05_ld`: tensor memory into a fragment (sm_100a)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class Tcgen05Ld(StepModel):
    """Load a fragment from tensor memory; the wait before its first use is derived."""

    verb: ClassVar[str] = "tcgen05_ld"

    tcgen05_ld: Operand
    """The fragment."""
    from_: Operand = Field(alias="from")
    """The buffer in tensor memory."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


OP = Operation(
    model=Tcgen05Ld,
    accesses=(
        touches("from_", "read", "tmem", engine=Engine.TMEM),
        touches("tcgen05_ld", "write", "registers", engine=Engine.TMEM),
    ),
)
