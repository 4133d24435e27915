"""`wgmma`: an asynchronous matrix product of a warpgroup (sm_90a)."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.expr import parse
from tsc.model import Expression, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.matrices import accumulates, instruction, product


class Wgmma(StepModel):
    """Add `a[m, k] * b[n, k]` to a fragment, as one group."""

    verb: ClassVar[str] = "wgmma"

    wgmma: Operand
    """The accumulator, a fragment."""
    a: Operand
    """`[m, k]` in shared memory or registers."""
    b: Operand
    """`[n, k]` in shared memory."""
    accumulate: Expression = parse(True)
    """Where false, the accumulator's old value is ignored."""


TEMPLATE = """
wgmma_fence();
{% if steps > 1 %}
#pragma unroll
for (int step = 0; step < {{ steps }}; ++step) {
{% for block in blocks %}
  {{ name }}({{ block.d }}, {{ block.a }}, {{ block.b }}, {{ accumulate }});
{% endfor %}
}
{% else %}
{% for block in blocks %}
{{ name }}({{ block.d }}, {{ block.a }}, {{ block.b }}, {{ accumulate }});
{% endfor %}
{% endif %}
wgmma_commit();
"""


def bind(step: Wgmma, lowering: Lowering) -> dict[str, Any]:
    """Name the instructions: one for each 32 bytes of k and each 64 rows of the warpgroup's share."""
    plan = product(lowering, step.wgmma, step.a, step.b)
    accumulate = accumulates(lowering, step.accumulate, plan.steps)
    name = lowering.device(plan.instruction.name, lambda own: instruction(plan.instruction, own))
    return {"name": name, "steps": plan.steps, "blocks": plan.blocks, "accumulate": accumulate}


OP = Operation(
    model=Wgmma,
    accesses=(
        touches("a", "read", "smem", "registers", engine=Engine.WGMMA),
        touches("b", "read", "smem", engine=Engine.WGMMA),
        touches("wgmma", "update", "registers", engine=Engine.WGMMA),
    ),
    template=TEMPLATE,
    bind=bind,
)
