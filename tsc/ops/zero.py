"""`zero`: clear registers."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering


class Zero(StepModel):
    """Set every value of a fragment, or of each thread's registers, to zero."""

    verb: ClassVar[str] = "zero"

    zero: Operand
    """The registers."""


TEMPLATE = """
zero_{{ what }}({{ to }});
"""


def bind(step: Zero, lowering: Lowering) -> dict[str, Any]:
    """Name the registers."""
    if lowering.is_fragment(step.zero):
        return {"what": "fragment", "to": lowering.fragment(step.zero).name}
    return {"what": "registers", "to": lowering.registers(step.zero).name}


OP = Operation(model=Zero, accesses=(touches("zero", "write", "registers"),), template=TEMPLATE, bind=bind)
