"""What `tma_store` and `tma_reduce` share: a box that leaves shared memory, whole or its leading rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from tsc.expr import Expr
from tsc.model import Reference
from tsc.ops.boxes import ALIGN, moved, transfer
from tsc.ops.lowering import BufferOperand, Lowering, TensorOperand

_WHOLE = """
{% for variable, count in loops %}
{{ "  " * loop.index0 }}for (int {{ variable }} = 0; {{ variable }} < {{ count }}; ++{{ variable }})
{% endfor %}
{% for part in parts %}
{{ "  " * loops | length }}CALL({{ map }}, {{ part.address }}, {{ part.at }});
{% endfor %}
"""

_TEMPLATE = """
{% if rows %}
if ({{ rows.count }} >= {{ rows.all }}) {
WHOLE
} else {
  for (int {{ rows.variable }} = 0; {{ rows.variable }} < {{ rows.count }}; ++{{ rows.variable }}) {
    {% for part in rows.parts %}
    CALL({{ rows.map }}, {{ part.address }}, {{ part.at }});
    {% endfor %}
  }
}
{% else %}
WHOLE
{% endif %}
bulk_commit();
"""


def store_template(call: str) -> str:
    """Return the template of a store by this call; its group is committed at once."""
    return _TEMPLATE.replace("WHOLE", _WHOLE).replace("CALL", call)


def bind_store(
    lowering: Lowering,
    verb: str,
    to: Reference,
    source: Reference,
    at: Sequence[Expr] | None,
    rows: Expr | None,
    l2: int,
) -> dict[str, Any]:
    """Plan the store of a buffer and, with `rows`, the one that stores single rows."""
    tensor, buffer = lowering.tensor(to), lowering.buffer(source, "read")
    where = lowering.coordinates(at, tensor.rank)
    plan = transfer(lowering, tensor, buffer, where, verb, l2=l2)
    fields: dict[str, Any] = {"loops": plan.loops, "parts": plan.parts, "map": plan.map, "rows": None}
    bounds = None if rows is None or not buffer.shape else lowering.interval(rows)
    if rows is not None and bounds is not None and bounds.lo < buffer.shape[0]:
        fields["rows"] = _by_rows(lowering, verb, tensor, buffer, where, rows, l2)
    return fields


def _by_rows(
    lowering: Lowering,
    verb: str,
    tensor: TensorOperand,
    buffer: BufferOperand,
    at: tuple[Expr, ...],
    rows: Expr,
    l2: int,
) -> dict[str, Any]:
    if len(buffer.shape) < 2 or buffer.transposed:
        lowering.refuse(
            f"`{verb}` with `rows` needs a buffer of rows, and `{buffer.text}` is none; `bulk_store` "
            "takes elements"
        )
    inner = buffer.shape[1:]
    pitch = prod(inner[:-1]) * (buffer.swizzle or inner[-1] * buffer.bits // 8)
    if pitch % ALIGN:
        lowering.refuse(
            f"`{verb}` with `rows` stores single rows, and those of `{buffer.text}` lie {pitch} bytes apart: "
            "only multiples of 128 are generated yet"
        )
    span = buffer.swizzle * 8 // buffer.bits if buffer.swizzle else inner[-1]
    atoms = inner[-1] // span
    if atoms > 1 and len(inner) > 1:
        lowering.refuse(
            f"`{verb}` with `rows` of `{buffer.text}`, whose rows lie apart, is not generated yet"
        )
    variable = lowering.local("row")
    first, last = len(at) - len(buffer.shape), len(at) - 1
    parts: list[dict[str, Any]] = []
    name = ""
    for atom in range(atoms):
        offset = atom * buffer.shape[0] * buffer.swizzle
        address = f"{buffer.address} + {offset}" if offset else buffer.address
        single = replace(buffer, shape=(1, *inner[:-1], span), address=f"{address} + {variable} * {pitch}")
        where = tuple(moved(e, atom * span) if i == last else e for i, e in enumerate(at))
        plan = transfer(lowering, tensor, single, where, verb, l2=l2, added={first: variable})
        if plan.loops:
            lowering.refuse(
                f"`{verb}` with `rows` of `{buffer.text}`, whose rows take many boxes, is not generated yet"
            )
        parts += plan.parts
        name = plan.map
    return {
        "count": lowering.text(rows),
        "all": buffer.shape[0],
        "variable": variable,
        "parts": parts,
        "map": name,
    }
