"""`load`: from a tensor or a buffer into registers."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Operation, StepModel, touches
from tsc.ops.fragment_moves import move
from tsc.ops.lowering import Lowering
from tsc.ops.neighbours import place


class Load(StepModel):
    """Read a fragment, or each thread its own values; outside a tensor they read as zero."""

    verb: ClassVar[str] = "load"

    load: Operand
    """The registers."""
    from_: Operand = Field(alias="from")
    """A tensor or a buffer."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element; zeros if left out."""
    cache: Cache = "normal"
    """L2 eviction policy."""


TEMPLATE = """
{% if fragment is defined and part %}
load_{{ what }}<{{ part }}>({{ fragment }}, {{ view }}, {{ to_row }}, {{ to_column }});
{% elif fragment is defined %}
load_fragment<{{ checked }}{{ cache }}>({{ fragment }}, {{ view }}{{ at }});
{% else %}
load_registers<{{ checked }}, {{ aligned }}{{ cache }}>({{ to }}, {{ view }}{{ at }});
{% endif %}
"""


def bind(step: Load, lowering: Lowering) -> dict[str, Any]:
    """Place the values; they move in pieces of up to 16 bytes where the coordinates show that they may."""
    if lowering.is_fragment(step.load):
        return move(lowering, step.from_, step.at, step.load, "read", step.cache)
    to = lowering.registers(step.load)
    return {"to": to.name, **place(lowering, step.from_, step.at, to, "read", step.cache)}


OP = Operation(
    model=Load,
    accesses=(touches("from_", "read", "tensor", "smem"), touches("load", "write", "registers")),
    template=TEMPLATE,
    bind=bind,
)
