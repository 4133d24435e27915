"""`wgmma_wait`: wait until at most so many wgmma groups of this warpgroup run."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Expression
from tsc.ops.base import Operation, StepModel
from tsc.ops.lowering import Lowering


class WgmmaWait(StepModel):
    """Wait for groups of `wgmma`, the oldest first."""

    verb: ClassVar[str] = "wgmma_wait"

    wgmma_wait: Expression
    """How many of the youngest groups may still run (a build-time value)."""


TEMPLATE = """
wgmma_wait<{{ pending }}>();
{% for name in held %}
wgmma_hold({{ name }});
{% endfor %}
"""


def bind(step: WgmmaWait, lowering: Lowering) -> dict[str, Any]:
    """Name the fragments that are complete, which nothing may read ahead of the wait."""
    return {"pending": lowering.build_text(step.wgmma_wait), "held": lowering.completed()}


OP = Operation(model=WgmmaWait, template=TEMPLATE, bind=bind)
