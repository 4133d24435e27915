"""`tma_store`: a box from shared memory into a tensor by the tensor memory accelerator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.rows import bind_store, store_template


class TmaStore(StepModel):
    """Store a box through a tensor map; what lies outside is not written, in whole 16 bytes of a row."""

    verb: ClassVar[str] = "tma_store"

    tma_store: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    from_: Operand = Field(alias="from")
    """The buffer to store; its shape is the box."""
    rows: Expression | None = None
    """Only so many leading rows are written."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""


TEMPLATE = store_template("tma_store{{ cache }}")


def bind(step: TmaStore, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions; a store that `rows` cuts goes row by row."""
    fields = bind_store(lowering, "tma_store", step.tma_store, step.from_, step.at, step.rows, step.l2)
    return {**fields, "cache": lowering.cache(step.cache)}


OP = Operation(
    model=TmaStore,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.STORE),
        touches("tma_store", "write", "tensor", engine=Engine.STORE),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
