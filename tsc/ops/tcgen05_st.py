"""`tcgen05_st`: a fragment into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.tensor_moves import TEMPLATE, tensor_move


class Tcgen05St(StepModel):
    """Store a fragment into tensor memory; the wait before `commit` is derived."""

    verb: ClassVar[str] = "tcgen05_st"

    tcgen05_st: Operand
    """The buffer in tensor memory."""
    from_: Operand = Field(alias="from")
    """The fragment."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


def bind(step: Tcgen05St, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions, each of a power of two of registers."""
    return tensor_move(lowering, "st", step.from_, step.tcgen05_st, step.at)


OP = Operation(
    model=Tcgen05St,
    accesses=(
        touches("from_", "read", "registers", engine=Engine.TMEM),
        touches("tcgen05_st", "write", "tmem", engine=Engine.TMEM),
    ),
    template=TEMPLATE,
    bind=bind,
)
