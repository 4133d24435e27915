"""`bulk_store`: one contiguous piece from shared memory into a tensor, without a tensor map."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.pieces import piece


class BulkStore(StepModel):
    """Store one contiguous piece; it must lie inside the tensor, in multiples of 16 bytes."""

    verb: ClassVar[str] = "bulk_store"

    bulk_store: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    from_: Operand = Field(alias="from")
    """The buffer to store; its shape is the extent of the piece."""
    rows: Expression | None = None
    """Only so many leading rows (elements, for a buffer of one dimension) are written."""
    cache: Cache = "normal"
    """L2 eviction policy."""


TEMPLATE = """
bulk_store{{ cache }}({{ pointer }}, {{ address }}, {{ size }});
bulk_commit();
"""


def bind(step: BulkStore, lowering: Lowering) -> dict[str, Any]:
    """Name the piece, which is a group of its own."""
    plan = piece(lowering, "bulk_store", step.bulk_store, step.from_, "read", step.at, step.rows)
    return {
        "address": plan.address,
        "pointer": plan.pointer,
        "size": plan.bytes,
        "cache": lowering.cache(step.cache),
    }


OP = Operation(
    model=BulkStore,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.STORE),
        touches("bulk_store", "write", "tensor", engine=Engine.STORE),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
