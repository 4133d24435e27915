"""`cp_async`: a box of a tensor into shared memory by the threads of the task, asynchronously."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.inside import lies_inside
from tsc.ops.lowering import Lowering


class CpAsync(StepModel):
    """Copy a box in pieces of 16 bytes; what lies outside the tensor is filled with zeros."""

    verb: ClassVar[str] = "cp_async"

    cp_async: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the box."""


TEMPLATE = """
cp_async_tile<{{ piece }}, {{ checked }}{{ cache }}>({{ task }}, {{ buffer }}, {{ tensor }}{{ at }});
"""


def bind(step: CpAsync, lowering: Lowering) -> dict[str, Any]:
    """Choose the piece: the largest of 16, 8 and 4 bytes whose alignment the coordinates and the buffer
    show.
    """
    tensor, buffer = lowering.tensor(step.cp_async), lowering.buffer(step.to, "write")
    if not lowering.in_ring(step.to):
        lowering.refuse(f"`{step.to}` has no stages, and nothing else says when a copy into it is complete")
    if tensor.dtype != buffer.dtype:
        lowering.refuse(
            f"`cp_async` changes no dtype, and here it goes from `{tensor.dtype}` to `{buffer.dtype}`"
        )
    if (
        buffer.transposed
        or tensor.rank == 0
        or tensor.major != tensor.rank - 1
        or not 1 <= len(buffer.shape) <= tensor.rank
    ):
        lowering.refuse("`cp_async` where the last dimension is not the contiguous one is not generated yet")
    at = lowering.coordinates(step.at, tensor.rank)
    column = lowering.multiple(at[-1]) * tensor.bits // 8
    row = buffer.shape[-1] * buffer.bits // 8
    piece = next((size for size in (16, 8, 4) if column % size == 0 and row % size == 0), None)
    if piece is None:
        lowering.refuse(
            f"`cp_async` needs columns at multiples of 4 bytes, and `{at[-1].text}` is not shown to be one"
        )
    lowering.need(tensor.name, piece, piece)
    covers = (*(1 for _ in range(tensor.rank - len(buffer.shape))), *buffer.shape)
    return {
        "piece": piece,
        "checked": "false" if lies_inside(lowering, tensor, at, covers) else "true",
        "cache": "",
        "task": lowering.task,
        "buffer": buffer.view,
        "tensor": lowering.tensor_view(step.cp_async),
        "at": "".join(f", {lowering.text(item)}" for item in at),
    }


OP = Operation(
    model=CpAsync,
    accesses=(
        touches("cp_async", "read", "tensor", engine=Engine.CP_ASYNC),
        touches("to", "write", "smem", engine=Engine.CP_ASYNC),
    ),
    template=TEMPLATE,
    bind=bind,
)
