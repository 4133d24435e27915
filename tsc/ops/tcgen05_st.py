"""`tcgen05_st`: a fragment into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class Tcgen05St(StepModel):
    """Store a fragment into tensor memory; the wait before `commit` is derived."""

    verb: ClassVar[str] = "tcgen05_st"

    tcgen05_st: Operand
    """The buffer in tensor memory."""
    from_: Operand = Field(alias="from")
    """The fragment."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


OP = Operation(
    model=Tcgen05St,
    accesses=(
        touches("from_", "read", "registers", engine=Engine.TMEM),
        touches("tcgen05_st", "write", "tmem", engine=Engine.TMEM),
    ),
)
