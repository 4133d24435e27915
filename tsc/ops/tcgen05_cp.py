"""`tcgen05_cp`: scale factors from shared memory into tensor memory (sm_100a)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tsc.model import Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.block_scales import BYTES, COLUMNS, UNIT, copies
from tsc.ops.lowering import Lowering


class Tcgen05Cp(StepModel):
    """Copy scale factors of block-scaled products into tensor memory."""

    verb: ClassVar[str] = "tcgen05_cp"

    tcgen05_cp: Operand
    """The buffer in tensor memory."""
    from_: Operand = Field(alias="from")
    """The buffer in shared memory."""


TEMPLATE = """
{% if deep > 1 %}
#pragma unroll
for (int block = 0; block < {{ deep }}; ++block){{ " {" if rows > 1 }}
{% endif %}
{% for row in range(rows) %}
{{ "  " if deep > 1 }}tcgen05_copy_scales{{ group }}({{ to }}
{{- " + %d * block" % (columns * rows) if deep > 1 }}{{ " + %d" % (columns * row) if row }}, {{ source }}
{{- " + %d * block" % units if deep > 1 }}{{ " + %d" % (units * deep * row) if row }});
{% endfor %}
{% if deep > 1 and rows > 1 %}
}
{% endif %}
"""


def bind(step: Tcgen05Cp, lowering: Lowering) -> dict[str, Any]:
    """Name the blocks: in tensor memory those of all rows stand side by side, block of k after block of k."""
    plan = copies(lowering, step.tcgen05_cp, step.from_)
    return {
        "group": "<2>" if lowering.group == 2 else "",
        "to": plan.to,
        "source": plan.source,
        "rows": plan.rows,
        "deep": plan.deep,
        "columns": COLUMNS,
        "units": BYTES // UNIT,
    }


OP = Operation(
    model=Tcgen05Cp,
    accesses=(
        touches("from_", "read", "smem", engine=Engine.TCGEN05),
        touches("tcgen05_cp", "write", "tmem", engine=Engine.TCGEN05),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
