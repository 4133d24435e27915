"""`activate`: an activation of values in registers, in place."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from tsc.model import Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.lowering import Lowering

FLOATS = frozenset(("f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m1"))


class Activate(StepModel):
    """Put every value of a fragment, or of each thread's registers, through an activation."""

    verb: ClassVar[str] = "activate"

    activate: Operand
    """The registers."""
    function: Literal["relu", "gelu", "silu"]
    """`gelu` is the form with erf. All are good to 2^-14 of their value, whatever it is."""


TEMPLATE = """
map_{{ what }}({{ to }}, [](float x) { return {{ function }}(x); });
"""


def bind(step: Activate, lowering: Lowering) -> dict[str, Any]:
    """Name registers and function."""
    whole = lowering.is_fragment(step.activate)
    to = lowering.fragment(step.activate) if whole else lowering.registers(step.activate)
    if to.dtype not in FLOATS:
        lowering.refuse(f"`{step.function}` is a function of floats, and `{to.name}` holds `{to.dtype}`")
    return {"what": "fragment" if whole else "registers", "to": to.name, "function": step.function}


OP = Operation(
    model=Activate,
    accesses=(touches("activate", "update", "registers"),),
    template=TEMPLATE,
    bind=bind,
)
