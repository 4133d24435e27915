"""`store`: from registers into a tensor or a buffer."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Operation, StepModel, touches
from tsc.ops.fragment_moves import move
from tsc.ops.lowering import Lowering
from tsc.ops.neighbours import place


class Store(StepModel):
    """Write a fragment, or each thread its own values; outside a tensor nothing is written."""

    verb: ClassVar[str] = "store"

    store: Operand
    """A tensor or a buffer."""
    from_: Operand = Field(alias="from")
    """The registers."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element; zeros if left out."""
    rows: Expression | None = None
    """Only so many leading rows are written."""
    cache: Cache = "normal"
    """L2 eviction policy."""


TEMPLATE = """
{% if fragment is defined and part %}
store_{{ what }}<{{ part }}>({{ view }}, {{ fragment }}, {{ to_row }}, {{ to_column }}{{ limit }});
{% elif fragment is defined %}
store_fragment{{ leading }}<{{ checked }}{{ cache }}>({{ view }}, {{ fragment }}{{ count }}{{ at }});
{% elif rows %}
store_registers_leading<{{ checked }}, {{ aligned }}{{ cache }}>({{ view }}, {{ source }}, {{ rows }}{{ at
}});
{% else %}
store_registers<{{ checked }}, {{ aligned }}{{ cache }}>({{ view }}, {{ source }}{{ at }});
{% endif %}
"""


def bind(step: Store, lowering: Lowering) -> dict[str, Any]:
    """Place the values; with `rows` only so many leading ones are written."""
    if lowering.is_fragment(step.from_):
        return move(lowering, step.store, step.at, step.from_, "write", step.cache, step.rows)
    source = lowering.registers(step.from_)
    rows = "" if step.rows is None else lowering.text(step.rows)
    return {
        "source": source.name,
        "rows": rows,
        **place(lowering, step.store, step.at, source, "write", step.cache),
    }


OP = Operation(
    model=Store,
    accesses=(touches("from_", "read", "registers"), touches("store", "write", "tensor", "smem")),
    template=TEMPLATE,
    bind=bind,
)
