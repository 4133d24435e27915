"""`tma_load`: a box of a tensor into shared memory by the tensor memory accelerator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from tsc.model import Expression, Name, Operand
from tsc.ops.base import Cache, Engine, Operation, StepModel, touches
from tsc.ops.boxes import transfer
from tsc.ops.lowering import Lowering
from tsc.ops.sharing import led


class TmaLoad(StepModel):
    """Load a box of a tensor through a tensor map; what lies outside is filled."""

    verb: ClassVar[str] = "tma_load"

    tma_load: Operand
    """The tensor."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element, one for each dimension; zeros if left out."""
    to: Operand
    """The buffer to fill; its shape is the box."""
    multicast: Name | None = None
    """Cluster axis along which all CTAs receive the same box."""
    share: Literal["split", "leader"] = "split"
    """With `multicast`: each CTA loads its share, or rank 0 loads all."""
    cache: Cache = "normal"
    """L2 eviction policy."""
    l2: Literal[0, 64, 128, 256] = 128
    """L2 promotion in bytes."""
    fill: Literal["zero", "nan"] = Field(default="zero")
    """What elements outside the tensor read as."""


TEMPLATE = """
{% set lead = "  " * loops | length %}
{% for variable, count in loops %}
{{ "  " * loop.index0 }}for (int {{ variable }} = 0; {{ variable }} < {{ count }}; ++{{ variable }})
{% endfor %}
{% for part in parts %}
{% if mask %}
{{ lead }}tma_load{{ pair }}_multicast{{ cache }}(
{{- part.address }}, {{ map }}, {{ barrier }}, {{ mask }}, {{ part.at }});
{% else %}
{{ lead }}tma_load{{ pair }}{{ cache }}({{ part.address }}, {{ map }}, {{ barrier }}, {{ part.at }});
{% endif %}
{% endfor %}
"""


def bind(step: TmaLoad, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions; `bytes` arrive in every receiving CTA, whoever issues them.

    What the tensor cores of a pair read is signalled at its leader.
    """
    tensor, buffer = lowering.tensor(step.tma_load), lowering.buffer(step.to, "write")
    group = lowering.multicast(step.multicast) if step.multicast is not None else None
    group = None if group is not None and group.size == 1 else group
    share = None if group is None or led(step, buffer.bytes, group.size) else group
    at = lowering.coordinates(step.at, tensor.rank)
    plan = transfer(lowering, tensor, buffer, at, "tma_load", l2=step.l2, fill=step.fill, share=share)
    return {
        "loops": plan.loops,
        "parts": plan.parts,
        "map": plan.map,
        "barrier": lowering.barrier(step.to),
        "pair": "_pair" if lowering.for_pair(step.to) else "",
        "mask": group.mask if group is not None else "",
        "cache": lowering.cache(step.cache),
        "only": f"{group.rank} == 0" if group is not None and share is None else "",
        "bytes": buffer.bytes,
    }


OP = Operation(
    model=TmaLoad,
    accesses=(
        touches("tma_load", "read", "tensor", engine=Engine.TMA),
        touches("to", "write", "smem", engine=Engine.TMA),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
