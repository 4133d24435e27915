"""`tcgen05_mma`: a matrix product into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.expr import parse
from tsc.model import Expression, Operand, Reference
from tsc.ops import block_scales
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.lowering import Lowering
from tsc.ops.matrices import accumulates
from tsc.ops.tensor_products import instruction, product


class Tcgen05Mma(StepModel):
    """Add `a[m, k] * b[n, k]` to an accumulator in tensor memory."""

    verb: ClassVar[str] = "tcgen05_mma"

    tcgen05_mma: Operand
    """The accumulator in tensor memory."""
    a: Operand
    """`[m, k]` in shared or tensor memory."""
    b: Operand
    """`[n, k]` in shared memory."""
    scale_a: Operand | None = None
    """Scale factors of `a` in tensor memory, one for each block of neighbours along k."""
    scale_b: Operand | None = None
    """Scale factors of `b`."""
    accumulate: Expression = parse(True)
    """Where false, the accumulator's old value is ignored."""


TEMPLATE = """
{% if steps > 1 %}
#pragma unroll
for (int step = 0; step < {{ steps }}; ++step)
  {{ name }}({{ d }}, {{ a }}, {{ b }}, {{ scales }}{{ accumulate }});
{% else %}
{{ name }}({{ d }}, {{ a }}, {{ b }}, {{ scales }}{{ accumulate }});
{% endif %}
"""


def bind(step: Tcgen05Mma, lowering: Lowering) -> dict[str, Any]:
    """Name the instruction, and its operands: one for each 32 bytes of k."""
    if step.scale_a is not None and step.scale_b is not None:
        return _scaled(step, step.scale_a, step.scale_b, lowering)
    if step.scale_a is not None or step.scale_b is not None:
        lowering.refuse("both operands of a product are scaled, or neither")
    plan = product(lowering, step.tcgen05_mma, step.a, step.b)
    name = lowering.device(plan.instruction.name, lambda own: instruction(plan.instruction, own))
    return {
        "scales": "",
        "name": name,
        "steps": plan.steps,
        "d": plan.d,
        "a": plan.a,
        "b": plan.b,
        "accumulate": accumulates(lowering, step.accumulate, plan.steps),
    }


def _scaled(step: Tcgen05Mma, scale_a: Reference, scale_b: Reference, lowering: Lowering) -> dict[str, Any]:
    plan = block_scales.product(lowering, step.tcgen05_mma, step.a, step.b, scale_a, scale_b)
    one = plan.instruction
    return {
        "name": lowering.device(one.name, lambda own: block_scales.instruction(one, own)),
        "steps": plan.steps,
        "d": plan.d,
        "a": plan.a,
        "b": plan.b,
        "scales": f"{plan.scales}, ",
        "accumulate": accumulates(lowering, step.accumulate, plan.steps),
    }


OP = Operation(
    model=Tcgen05Mma,
    accesses=(
        touches("a", "read", "smem", "tmem", engine=Engine.TCGEN05),
        touches("b", "read", "smem", engine=Engine.TCGEN05),
        touches("scale_a", "read", "tmem", engine=Engine.TCGEN05),
        touches("scale_b", "read", "tmem", engine=Engine.TCGEN05),
        touches("tcgen05_mma", "update", "tmem", engine=Engine.TCGEN05),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
