"""`tcgen05_ld`: tensor memory into a fragment (sm_100a)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.tensor_moves import TEMPLATE, tensor_move


class Tcgen05Ld(StepModel):
    """Load a fragment from tensor memory; the wait before its first use is derived."""

    verb: ClassVar[str] = "tcgen05_ld"

    tcgen05_ld: Operand
    """The fragment."""
    from_: Operand = Field(alias="from")
    """The buffer in tensor memory."""
    at: tuple[Expression, ...] | None = None
    """Coordinates in the larger of fragment and buffer; zeros if left out."""


def bind(step: Tcgen05Ld, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions, each of a power of two of registers."""
    return tensor_move(lowering, "ld", step.tcgen05_ld, step.from_, step.at)


OP = Operation(
    model=Tcgen05Ld,
    accesses=(
        touches("from_", "read", "tmem", engine=Engine.TMEM),
        touches("tcgen05_ld", "write", "registers", engine=Engine.TMEM),
    ),
    template=TEMPLATE,
    bind=bind,
)
