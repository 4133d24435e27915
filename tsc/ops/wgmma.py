"""`wgmma`: an asynchronous matrix product of a warpgroup (sm_90a)."""

from __future__ import annotations

from typing import ClassVar

from tsc.expr import parse
from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches


class Wgmma(StepModel):
    """Add `a[m, k] * b[n, k]` to a fragment, as one group."""

    verb: ClassVar[str] = "wgmma"

    wgmma: Operand
    """The accumulator, a fragment."""
    a: Operand
    """`[m, k]` in shared memory or registers."""
    b: Operand
    """`[n, k]` in shared memory."""
    accumulate: Expression = parse(True)
    """Where false, the accumulator's old value is ignored."""


OP = Operation(
    model=Wgmma,
    accesses=(
        touches("a", "read", "smem", "registers", engine=Engine.WGMMA),
        touches("b", "read", "smem", engine=Engine.WGMMA),
        touches("wgmma", "update", "registers", engine=Engine.WGMMA),
    ),
)
