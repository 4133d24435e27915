"""`convert`: registers of one dtype or layout into another."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches


class Convert(StepModel):
    """Convert values, rounding to nearest even."""

    verb: ClassVar[str] = "convert"

    convert: Operand
    """The registers to write."""
    from_: Operand = Field(alias="from")
    """The registers to read."""


OP = Operation(
    model=Convert,
    accesses=(touches("from_", "read", "registers"), touches("convert", "write", "registers")),
)
