"""What `store` and `load` share where the registers are a fragment: its place in a tensor or a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, Literal

from tsc.expr import Expr, build
from tsc.expr.tree import Binary, Int
from tsc.model import Reference
from tsc.ops.base import Cache
from tsc.ops.inside import not_below, not_beyond
from tsc.ops.lowering import FragmentOperand, Lowering
from tsc.ops.parts import UNITS, part_of

PIECE = 128  # bits that a thread moves at a time
PRIVATE = frozenset(("thread", "warp", "lane"))


def move(
    lowering: Lowering,
    reference: Reference,
    at: Sequence[Expr] | None,
    registers: Reference,
    mode: Literal["read", "write"],
    cache: Cache,
    rows: Expr | None = None,
) -> dict[str, Any]:
    """Return the fields of the template for a fragment and the tensor or buffer it is moved from or to."""
    fragment = lowering.fragment(registers)
    for place in at or ():
        apart = sorted(lowering.flat(place).free & PRIVATE)
        if apart:
            lowering.refuse(
                f"the threads of a task move `{fragment.name}` together, and `{apart[0]}` has them differ"
            )
    if lowering.is_buffer(reference):
        return {"fragment": fragment.name, **_buffer(lowering, reference, at, fragment, mode, rows)}
    return {"fragment": fragment.name, **_tensor(lowering, reference, at, fragment, mode, cache, rows)}


def _tensor(
    lowering: Lowering,
    reference: Reference,
    at: Sequence[Expr] | None,
    fragment: FragmentOperand,
    mode: Literal["read", "write"],
    cache: Cache,
    rows: Expr | None,
) -> dict[str, Any]:
    tensor = lowering.tensor(reference)
    if tensor.rank < 2:
        lowering.refuse(f"`{tensor.name}` has no rows and columns that `{fragment.name}` could cover")
    if tensor.bits < 8:
        lowering.refuse(
            f"two elements of `{tensor.name}` share a byte, and fragments of them are not generated yet"
        )
    where = lowering.coordinates(at, tensor.rank)
    covers = [*(1 for _ in where[2:]), *fragment.shape]
    below = all(lowering.proves(not_below(first)) for first in where)
    inside = below and all(
        lowering.proves(not_beyond(first, extent, limit))
        for first, extent, limit in zip(where, covers, tensor.shape, strict=True)
    )
    leading = rows is not None and not lowering.proves(not_beyond(build(Int(0)), fragment.shape[0], rows))
    hint = lowering.cache(cache, tensor.name if mode == "read" else None).strip("<>")
    return {
        "part": "",
        "view": lowering.tensor_view(reference),
        "leading": "_leading" if leading else "",
        "checked": 2 if not below else 1 if not inside or leading else 0,
        "cache": f", {hint}" if hint else "",
        "count": f", {lowering.text(rows)}" if leading and rows is not None else "",
        "at": "".join(f", {lowering.text(item)}" for item in where),
    }


def _buffer(
    lowering: Lowering,
    reference: Reference,
    at: Sequence[Expr] | None,
    fragment: FragmentOperand,
    mode: Literal["read", "write"],
    rows: Expr | None,
) -> dict[str, Any]:
    buffer = lowering.buffer(reference, mode)
    if len(buffer.shape) != 2 or buffer.bits < 8:
        lowering.refuse(f"`{buffer.text}` is no matrix that `{fragment.name}` can be moved from or to yet")
    part = part_of(lowering, buffer, fragment, at)
    aligned = part.columns.step % UNITS[1] == 0 and buffer.shape[1] % UNITS[1] == 0
    numbers = (part.rows.first, part.columns.first, part.rows.count, part.columns.count)
    flags = [str(buffer.transposed).lower(), str(aligned).lower()]
    if fragment.lanes:
        own = (part.columns.step, part.columns.count, buffer.shape[-1])
        flags[1] = str(gcd(max(1, PIECE // buffer.bits), *own))
    limit, first = rows, lowering.coordinates(at, 2)[0]
    larger = buffer.shape[1 if buffer.transposed else 0] >= fragment.shape[0]
    if rows is not None and larger and lowering.flat(first).value != 0:
        # Rows of a larger buffer are counted from where the fragment lies in it.
        limit = build(Binary("+", first.tree, rows.tree))
    return {
        "part": ", ".join([*map(str, numbers), *flags]),
        "what": "lanes" if fragment.lanes else "part",
        "view": buffer.view,
        "to_row": part.rows.to,
        "to_column": part.columns.to,
        "limit": "" if limit is None else f", {lowering.text(limit)}",
        "only": part.only,
    }
