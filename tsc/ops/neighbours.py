"""Where a thread's private values lie in a tensor or a buffer: neighbours along the contiguous dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tsc.expr import Expr, build
from tsc.expr.tree import Int
from tsc.model import Reference
from tsc.ops.base import Cache
from tsc.ops.inside import lies_inside, not_below, not_beyond
from tsc.ops.lowering import Lowering, RegisterOperand

LARGEST = 16  # bytes of a piece: what one instruction moves


def piece_bytes(count: int, bits: int) -> int:
    """Bytes of the pieces in which so many elements move: a power of two, at most 16."""
    total = count * bits // 8
    return min(LARGEST, total & -total) if total and count * bits % 8 == 0 else 0


def place(
    lowering: Lowering,
    reference: Reference,
    at: Sequence[Expr] | None,
    values: RegisterOperand,
    mode: Literal["read", "write"],
    cache: Cache,
) -> dict[str, Any]:
    """Return view, coordinates, and whether accesses are checked against the extents and made in whole
    pieces.
    """
    if lowering.is_buffer(reference):
        return _in_buffer(lowering, reference, at, values, mode)
    tensor = lowering.tensor(reference)
    where = lowering.coordinates(at, tensor.rank)
    hint = lowering.cache(cache, tensor.name if mode == "read" else None).strip("<>")
    fields = {
        "view": lowering.tensor_view(reference),
        "at": _listed(lowering, where),
        "cache": f", {hint}" if hint else "",
    }
    if tensor.rank == 0:
        if values.count > 1:
            lowering.refuse(
                f"`{tensor.name}` has one element, and `{values.name}` has {values.count} values a thread"
            )
        return {**fields, "checked": "false", "aligned": "true"}
    covers = [values.count if dim == tensor.major else 1 for dim in range(tensor.rank)]
    piece = piece_bytes(values.count, tensor.bits)
    aligned = piece > 0 and lowering.multiple(where[tensor.major]) * tensor.bits % (8 * piece) == 0
    if aligned:
        lowering.need(tensor.name, piece, piece)
    checked = not lies_inside(lowering, tensor, where, covers)
    return {**fields, "checked": _flag(checked), "aligned": _flag(aligned)}


def _in_buffer(
    lowering: Lowering,
    reference: Reference,
    at: Sequence[Expr] | None,
    values: RegisterOperand,
    mode: Literal["read", "write"],
) -> dict[str, Any]:
    buffer = lowering.buffer(reference, mode)
    if buffer.transposed:
        lowering.refuse(f"values along the rows of `{buffer.text}` are not generated yet")
    where = lowering.coordinates(at, len(buffer.shape))
    piece = piece_bytes(values.count, buffer.bits)
    row = buffer.shape[-1] * buffer.bits if buffer.shape else 8 * piece
    column = lowering.multiple(where[-1]) * buffer.bits if where else 0
    aligned = piece > 0 and row % (8 * piece) == 0 and column % (8 * piece) == 0
    extents = [*(1 for _ in where[1:]), values.count] if where else []
    checked = not all(
        lowering.proves(not_below(first)) and lowering.proves(not_beyond(first, extent, build(Int(limit))))
        for first, extent, limit in zip(where, extents, buffer.shape, strict=True)
    )
    return {
        "view": buffer.view,
        "at": _listed(lowering, where),
        "cache": "",
        "checked": _flag(checked),
        "aligned": _flag(aligned),
    }


def _listed(lowering: Lowering, where: Sequence[Expr]) -> str:
    return "".join(f", {lowering.text(item)}" for item in where)


def _flag(value: bool) -> str:
    return "true" if value else "false"
