"""`tma_reduce`: a box from shared memory combined into a tensor by the tensor memory accelerator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.rows import bind_store, store_template


class TmaReduce(StepModel):
    """Add (or take the minimum or maximum of) a box and a tensor, atomically an element.

    Where a row ends inside 16 bytes, they are combined whole.
    """

    verb: ClassVar[str] = "tma_reduce"

    tma_reduce: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    from_: Operand = Field(alias="from")
    """The buffer to combine; its shape is the box."""
    op: Literal["add", "min", "max"] = "add"
    """How an element is combined with what the tensor holds."""
    rows: Expression | None = None
    """Only so many leading rows are combined."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""


TEMPLATE = store_template("tma_reduce<{{ operation }}{{ cache }}>")

ADDS = frozenset(("f32", "f16", "bf16", "i32", "u32"))
COMPARES = frozenset(("f16", "bf16", "i32", "u32", "i64"))


def bind(step: TmaReduce, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions; the dtypes are those of PTX ISA, cp.reduce.async.bulk.tensor."""
    dtype = lowering.tensor(step.tma_reduce).dtype
    if dtype not in (ADDS if step.op == "add" else COMPARES):
        lowering.refuse(f"`tma_reduce` has no `{step.op}` of `{dtype}`")
    fields = bind_store(lowering, "tma_reduce", step.tma_reduce, step.from_, step.at, step.rows, step.l2)
    cache = lowering.cache(step.cache).strip("<>")
    return {**fields, "operation": f"REDUCE_{step.op.upper()}", "cache": f", {cache}" if cache else ""}


OP = Operation(
    model=TmaReduce,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.STORE),
        touches("tma_reduce", "update", "tensor", engine=Engine.STORE),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
