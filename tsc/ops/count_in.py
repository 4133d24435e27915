"""`count_in`: publish this task's writes and learn who comes last."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches


class CountIn(StepModel):
    """Add one at a counter in global memory; the last of `of` finds all others' writes visible."""

    verb: ClassVar[str] = "count_in"

    count_in: Operand
    """The tensor of counters."""
    at: tuple[Expression, ...] | None = None
    """Which counter."""
    of: Expression
    """How many arrivals make a round; the counter is zero again after them."""
    last: Operand
    """A bool register: whether this was the last arrival."""


OP = Operation(
    model=CountIn,
    accesses=(touches("count_in", "update", "tensor"), touches("last", "write", "registers")),
)
