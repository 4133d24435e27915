"""`convert`: registers of one dtype or layout into another."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import FragmentOperand, Lowering


class Convert(StepModel):
    """Convert values, rounding to nearest even."""

    verb: ClassVar[str] = "convert"

    convert: Operand
    """The registers to write."""
    from_: Operand = Field(alias="from")
    """The registers to read."""


TEMPLATE = """
convert_{{ what }}({{ to }}, {{ source }});
"""


def bind(step: Convert, lowering: Lowering) -> dict[str, Any]:
    """Name the registers, of which both sides have equally many."""
    if lowering.is_fragment(step.convert) and lowering.is_fragment(step.from_):
        return _fragments(lowering, lowering.fragment(step.convert), lowering.fragment(step.from_))
    to, source = lowering.registers(step.convert), lowering.registers(step.from_)
    if to.count != source.count:
        lowering.refuse(f"`{to.name}` has {to.count} values and `{source.name}` has {source.count}")
    return {"what": "registers", "to": to.name, "source": source.name}


def _fragments(lowering: Lowering, to: FragmentOperand, source: FragmentOperand) -> dict[str, Any]:
    """Name the fragments, of which warpgroups have equal shares."""
    if (to.shape, to.split) != (source.shape, source.split):
        lowering.refuse(
            f"`{to.name}` has {to.shape[0]} by {to.shape[1]} values split by {to.split}, and `{source.name}` "
            f"{source.shape[0]} by {source.shape[1]} split by {source.split}"
        )
    if to.lanes != source.lanes:
        rows, blocks = (to, source) if to.lanes else (source, to)
        lowering.refuse(
            f"a thread has a row of `{rows.name}`, as tensor memory does, and parts of rows of "
            f"`{blocks.name}`, and `convert` moves nothing between threads"
        )
    return {"what": "fragment", "to": to.name, "source": source.name}


OP = Operation(
    model=Convert,
    accesses=(touches("from_", "read", "registers"), touches("convert", "write", "registers")),
    template=TEMPLATE,
    bind=bind,
)
