"""What `bulk_load` and `bulk_store` share: one contiguous piece of a tensor that lies inside it, in units of
16 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Literal

from tsc.expr import Expr, build
from tsc.expr.tree import Call, Compare, Int
from tsc.model import Reference
from tsc.ops.inside import lies_inside, not_below
from tsc.ops.lowering import BufferOperand, Lowering, TensorOperand
from tsc.ops.trusted import begins_inside, ends_inside, sources

UNIT = 16  # PTX ISA, cp.async.bulk: addresses and sizes are multiples of 16 bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece as C++: the buffer's address, the tensor's address, the bytes; `static` where they are known
    at build.
    """

    address: str
    pointer: str
    bytes: str
    static: int | None


def piece(
    lowering: Lowering,
    verb: str,
    reference: Reference,
    operand: Reference,
    mode: Literal["read", "write"],
    at: Sequence[Expr] | None,
    rows: Expr | None,
) -> Piece:
    """Plan a bulk copy between a tensor and a buffer; refuses what is not one piece."""
    tensor, buffer = lowering.tensor(reference), lowering.buffer(operand, mode)
    where = lowering.coordinates(at, tensor.rank)
    _check(lowering, verb, tensor, buffer)
    lowering.need(tensor.name, UNIT, UNIT)
    per_unit = UNIT * 8 // tensor.bits
    if tensor.rank and not lowering.need_multiple(where[tensor.major], per_unit, f"`at` of `{verb}`"):
        lowering.refuse(
            f"`{verb}` begins at multiples of 16 bytes, and `{where[tensor.major].text}` is not shown "
            "to be a multiple of "
            f"{per_unit} elements"
        )
    static = _whole(lowering, verb, buffer, rows)
    count = None if static is not None else _count(lowering, verb, buffer, rows)
    first = tensor.rank - len(buffer.shape)
    extents: list[Expr | int] = [*(1 for _ in range(first)), *buffer.shape]
    if count is not None:
        extents[first] = count
    elif buffer.shape:
        extents[first] = (
            static * 8 // buffer.bits // max(1, prod(buffer.shape[1:])) if static is not None else 0
        )
    _hold(lowering, verb, tensor, where, extents, rows)
    listed = ", ".join(map(lowering.text, where))
    row = buffer.bytes // buffer.shape[0] if buffer.shape else buffer.bytes
    bytes_ = (
        str(static)
        if count is None
        else lowering.named("u32", f"{reference.name}_bytes", _bytes(lowering.text(count), row))
    )
    return Piece(buffer.address, f"{lowering.tensor_view(reference)}.ptr({listed})", bytes_, static)


def _hold(
    lowering: Lowering,
    verb: str,
    tensor: TensorOperand,
    where: Sequence[Expr],
    extents: Sequence[Expr | int],
    rows: Expr | None,
) -> None:
    """Report a piece that is not shown to lie inside, and say what is trusted of one that memory places."""
    if lies_inside(lowering, tensor, where, extents):
        return
    places = [*where, *([] if rows is None else [rows])]
    memory = sources(lowering, *(place for place in places if lowering.reads_memory(place)))
    inside = memory and all(
        begins_inside(lowering, first) and ends_inside(lowering, first, extent, limit)
        for first, extent, limit in zip(where, extents, tensor.shape, strict=True)
    )
    if inside:
        lowering.note(
            f"Not clipped: the values of {memory} are trusted to place this inside `{tensor.name}`."
        )
    elif memory:
        lowering.fault(
            "bulk-copy-outside",
            f"`{verb}` is never clipped, and the values of {memory} do not say where this piece ends",
            "give `rows: min(ROWS, end - begin)` with the `begin` of `at`, and an `end` that is an element "
            "or the extent",
        )
    else:
        lowering.fault(
            "bulk-copy-outside",
            f"`{verb}` is never clipped, and this piece is not shown to lie inside `{tensor.name}`",
        )


def _bytes(count: str, row: int) -> str:
    text = f"static_cast<u32>({count})"
    return text if row == 1 else f"{text} * {row}"


def _check(lowering: Lowering, verb: str, tensor: TensorOperand, buffer: BufferOperand) -> None:
    if tensor.dtype != buffer.dtype:
        lowering.refuse(
            f"`{verb}` changes no dtype, and here it goes between `{tensor.dtype}` and `{buffer.dtype}`"
        )
    if buffer.swizzle:
        lowering.refuse(f"`{verb}` copies bytes in order, and `{buffer.text}` is swizzled")
    rank = len(buffer.shape)
    if rank > tensor.rank:
        lowering.refuse(
            f"`{verb}` between {rank} dimensions of `{buffer.text}` and {tensor.rank} of `{tensor.name}`"
        )
    covered = tuple(range(tensor.rank - rank, tensor.rank))
    outer = next((i for i, extent in enumerate(buffer.shape) if extent > 1), rank)
    inner = covered[outer + 1 :]
    if buffer.transposed or (outer < rank and (tensor.order[-len(covered[outer:]) :] != covered[outer:])):
        lowering.refuse(
            f"`{buffer.text}` lies in another order of dimensions than `{tensor.name}`, and `{verb}` "
            "copies bytes"
        )
    if inner and not tensor.packed:
        lowering.refuse(f"several rows in one piece need the promise `packed: true` on `{tensor.name}`")
    for dim in inner:
        extent = build(Int(buffer.shape[dim - covered[0]]))
        if not lowering.proves(build(Compare(("==",), (tensor.shape[dim].tree, extent.tree)))):
            lowering.refuse(
                f"several rows are one piece only where they are whole, and dimension {dim} of "
                f"`{tensor.name}` is "
                f"`{tensor.shape[dim].text}` where `{buffer.text}` has {extent.text}"
            )


def _whole(lowering: Lowering, verb: str, buffer: BufferOperand, rows: Expr | None) -> int | None:
    """Return the bytes where they are known at build."""
    total = buffer.bytes
    if rows is not None:
        value = lowering.interval(rows)
        if not buffer.shape:
            lowering.refuse(
                f"`rows` of `{verb}` needs a buffer with a dimension, and `{buffer.text}` has none"
            )
        if value.lo != value.hi:
            return None
        total = min(max(value.lo, 0), buffer.shape[0]) * (buffer.bytes // buffer.shape[0])
    if total % UNIT:
        lowering.refuse(f"`{verb}` moves multiples of 16 bytes, and here {total}")
    return total


def _count(lowering: Lowering, verb: str, buffer: BufferOperand, rows: Expr | None) -> Expr:
    """Return the rows at run time, held between none and all of the buffer's."""
    if rows is None:
        return build(Int(buffer.shape[0]))
    most = buffer.shape[0]
    row = buffer.bytes // most
    factor = UNIT // gcd(row, UNIT)
    if not lowering.need_multiple(rows, factor, f"`rows` of `{verb}`"):
        lowering.refuse(
            f"`{verb}` moves multiples of 16 bytes, and `{rows.text}` is not shown to be a multiple "
            f"of {factor}"
        )
    count = rows
    if not lowering.proves(build(Compare(("<=",), (rows.tree, Int(most))))):
        count = build(Call("min", (rows.tree, Int(most))))
    if not lowering.proves(not_below(rows)):
        count = build(Call("max", (count.tree, Int(0))))
    return count
