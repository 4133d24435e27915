"""`tcgen05_mma`: a matrix product into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import ClassVar

from tsc.expr import parse
from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class Tcgen05Mma(StepModel):
    """Add `a[m, k] * b[n, k]` to an accumulator in tensor memory."""

    verb: ClassVar[str] = "tcgen05_mma"

    tcgen05_mma: Operand
    """The accumulator in tensor memory."""
    a: Operand
    """`[m, k]` in shared or tensor memory."""
    b: Operand
    """`[n, k]` in shared memory."""
    accumulate: Expression = parse(True)
    """Where false, the accumulator's old value is ignored."""


OP = Operation(
    model=Tcgen05Mma,
    accesses=(
        touches("a", "read", "smem", "tmem", engine=Engine.TCGEN05),
        touches("b", "read", "smem", engine=Engine.TCGEN05),
        touches("tcgen05_mma", "update", "tmem", engine=Engine.TCGEN05),
    ),
    issuer="one",
)
