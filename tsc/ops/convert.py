"""`convert`: registers of one dtype or layout into another."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering


class Convert(StepModel):
    """Convert values, rounding to nearest even."""

    verb: ClassVar[str] = "convert"

    convert: Operand
    """The registers to write."""
    from_: Operand = Field(alias="from")
    """The registers to read."""


TEMPLATE = """
convert_registers({{ to }}, {{ source }});
"""


def bind(step: Convert, lowering: Lowering) -> dict[str, Any]:
    """Name the registers, of which both sides have equally many."""
    to, source = lowering.registers(step.convert), lowering.registers(step.from_)
    if to.count != source.count:
        lowering.refuse(f"`{to.name}` has {to.count} values and `{source.name}` has {source.count}")
    return {"to": to.name, "source": source.name}


OP = Operation(
    model=Convert,
    accesses=(touches("from_", "read", "registers"), touches("convert", "write", "registers")),
    template=TEMPLATE,
    bind=bind,
)
