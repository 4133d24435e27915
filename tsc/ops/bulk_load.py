"""`bulk_load`: one contiguous piece of a tensor into shared memory, without a tensor map."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Expression, Name, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.pieces import piece
from tsc.ops.sharing import led


class BulkLoad(StepModel):
    """Load one contiguous piece; it must lie inside the tensor, in multiples of 16 bytes."""

    verb: ClassVar[str] = "bulk_load"

    bulk_load: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the extent of the piece."""
    rows: Expression | None = None
    """Only so many leading rows (elements, for a buffer of one dimension) are copied."""
    multicast: Name | None = None
    """Cluster axis along which all CTAs receive the same piece."""
    cache: Cache = "normal"
    """L2 eviction policy."""


TEMPLATE = """
{% if mask %}
bulk_load_multicast{{ cache }}({{ address }}, {{ pointer }}, {{ size }}, {{ barrier }}, {{ mask }});
{% else %}
bulk_load{{ cache }}({{ address }}, {{ pointer }}, {{ size }}, {{ barrier }});
{% endif %}
"""


def bind(step: BulkLoad, lowering: Lowering) -> dict[str, Any]:
    """Name the piece; `bytes` arrive in every receiving CTA. Shares of it are split where the size allows."""
    if lowering.for_pair(step.to):
        lowering.refuse(
            f"`bulk_load` tells no other CTA, and `{step.to}` is read by the tensor cores of a pair: "
            "`tma_load` does"
        )
    plan = piece(lowering, "bulk_load", step.bulk_load, step.to, "write", step.at, step.rows)
    fields: dict[str, Any] = {
        "address": plan.address,
        "pointer": plan.pointer,
        "size": plan.bytes,
        "barrier": lowering.barrier(step.to),
        "mask": "",
        "cache": lowering.cache(step.cache),
        "only": "",
        "bytes": plan.bytes if plan.static is None else plan.static,
    }
    group = lowering.multicast(step.multicast) if step.multicast is not None else None
    if group is not None and group.size > 1:
        fields["mask"] = group.mask
        known = None if step.rows is not None else plan.static
        if known is not None and not led(step, known, group.size):
            share = known // group.size
            stored = max(8, lowering.tensor(step.bulk_load).bits) // 8
            fields["size"] = str(share)
            fields["address"] += f" + {group.rank} * {share}"
            fields["pointer"] += f" + {group.rank} * {share // stored}"
        else:
            fields["only"] = f"{group.rank} == 0"
    return fields


OP = Operation(
    model=BulkLoad,
    accesses=(
        touches("bulk_load", "read", "tensor", engine=Engine.TMA),
        touches("to", "write", "smem", engine=Engine.TMA),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
