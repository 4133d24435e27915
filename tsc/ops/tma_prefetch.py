"""`tma_prefetch`: a box of a tensor into L2."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.boxes import transfer
from tsc.ops.lowering import BufferOperand, Lowering


class TmaPrefetch(StepModel):
    """Bring a box of a tensor into L2; nothing ever waits for it."""

    verb: ClassVar[str] = "tma_prefetch"

    tma_prefetch: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    box: tuple[Expression, ...]
    """Extents of the box, build-time values; it covers the last dimensions."""


TEMPLATE = """
{% for variable, count in loops %}
{{ "  " * loop.index0 }}for (int {{ variable }} = 0; {{ variable }} < {{ count }}; ++{{ variable }})
{% endfor %}
{% for part in parts %}
{{ "  " * loops | length }}tma_prefetch({{ map }}, {{ part.at }});
{% endfor %}
"""


def bind(step: TmaPrefetch, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions; the box is cut as that of a buffer without a swizzle would be."""
    tensor = lowering.tensor(step.tma_prefetch)
    box = tuple(lowering.constant(extent) for extent in step.box)
    like = BufferOperand("box", tensor.dtype, tensor.bits, box, 0, False, "0", "")
    at = lowering.coordinates(step.at, tensor.rank)
    plan = transfer(lowering, tensor, like, at, "tma_prefetch", l2=128)
    return {"loops": plan.loops, "parts": plan.parts, "map": plan.map}


OP = Operation(
    model=TmaPrefetch,
    accesses=(touches("tma_prefetch", "read", "tensor", engine=Engine.PREFETCH),),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
