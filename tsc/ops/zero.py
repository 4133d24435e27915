"""`zero`: clear registers."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches


class Zero(StepModel):
    """Set every value of a fragment, or of each thread's registers, to zero."""

    verb: ClassVar[str] = "zero"

    zero: Operand
    """The registers."""


OP = Operation(model=Zero, accesses=(touches("zero", "write", "registers"),))
