"""`count_in`: publish this task's writes and learn who comes last."""

from __future__ import annotations

from typing import Any, ClassVar

from tsc.model import Expression, Operand
from tsc.ops.base import Operation, StepModel, touches
from tsc.ops.inside import lies_inside
from tsc.ops.lowering import Lowering

COUNTERS = ("i32", "u32")


class CountIn(StepModel):
    """Add one at a counter in global memory; the last of `of` finds all others' writes visible."""

    verb: ClassVar[str] = "count_in"

    count_in: Operand
    """The tensor of counters."""
    at: tuple[Expression, ...] | None = None
    """Which counter; one outside of the tensor counts nothing."""
    of: Expression
    """How many arrivals make a round; the counter is zero again after them."""
    last: Operand
    """A bool register: whether this was the last arrival."""


TEMPLATE = (
    "{{ last }}[0] = count_in<{{ of }}, {{ stores }}, {{ loads }}>"
    "({{ task }}, counter_at<{{ checked }}>({{ counters }}));"
)


def bind(step: CountIn, lowering: Lowering) -> dict[str, Any]:
    """Give the counter's address, null outside of the tensor; all threads of the task count once."""
    tensor = lowering.tensor(step.count_in)
    last = lowering.registers(step.last)
    if tensor.dtype not in COUNTERS or last.dtype != "bool" or last.count != 1:
        lowering.refuse(
            f"`count_in` of `{tensor.dtype}` into {last.count} of `{last.dtype}` is not generated"
        )
    where = lowering.coordinates(step.at, tensor.rank)
    checked = not lies_inside(lowering, tensor, where, [1] * tensor.rank)
    return {
        "last": last.name,
        "of": lowering.build_text(step.of),
        "stores": "true" if lowering.stores else "false",
        "loads": "true" if lowering.loads_written else "false",
        "task": lowering.task,
        "checked": "true" if checked else "false",
        "counters": ", ".join((lowering.tensor_view(step.count_in), *map(lowering.text, where))),
    }


OP = Operation(
    model=CountIn,
    accesses=(touches("count_in", "update", "tensor"), touches("last", "write", "registers")),
    template=TEMPLATE,
    bind=bind,
)
