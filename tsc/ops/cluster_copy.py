"""`cluster_copy`: shared memory of this CTA into a stage of another CTA of the cluster."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Protocol

from tsc.expr import Expr, build
from tsc.expr.tree import Binary, Int
from tsc.model import Expression, Name, Operand
from tsc.ops.base import Engine, Operation, StepModel, touches
from tsc.ops.inside import not_below, not_beyond
from tsc.ops.lowering import BufferOperand, Lowering

GRAIN = 16  # PTX ISA, cp.async.bulk: addresses and sizes


class ClusterCopy(StepModel):
    """Copy a piece of a buffer into a stage of another CTA of the cluster."""

    verb: ClassVar[str] = "cluster_copy"

    cluster_copy: Operand
    """The buffer to copy from, without stages."""
    at: tuple[Expression, ...] | None = None
    """Coordinates of the first element in it; zeros if left out."""
    to: Operand
    """The buffer to fill in the other CTA; its shape is the piece."""
    along: Name
    """Cluster axis along which the other CTA stands."""
    cta: Expression
    """Its place along that axis; each CTA of the axis receives from one."""


TEMPLATE = """
cluster_copy(cluster_address({{ address }}, {{ rank }}), {{ source }}, {{ bytes }},
             cluster_address({{ barrier }}, {{ rank }}));
"""


def bind(step: ClusterCopy, lowering: Lowering) -> dict[str, Any]:
    """Name the piece; as many `bytes` as it has arrive in this CTA, from the one that sends to it."""
    source, target = lowering.buffer(step.cluster_copy, "read"), lowering.buffer(step.to, "write")
    why = misfit(source, target)
    if why:
        lowering.refuse(f"`cluster_copy` from `{source.text}` to `{target.text}`: {why}")
    at = lowering.coordinates(step.at, len(source.shape))
    _inside(lowering, source, target, at)
    offset = _offset(lowering, source, at)
    return {
        "address": target.address,
        "source": source.address if offset == "0" else f"{source.address} + {offset}",
        "bytes": target.bytes,
        "barrier": lowering.barrier(step.to),
        "rank": lowering.named("u32", "peer", lowering.peer(step.along, step.cta)),
    }


class Bytes(Protocol):
    """A buffer as a copy sees it: elements of so many bits, in an order that a swizzle permutes."""

    @property
    def dtype(self) -> str:
        """Type of an element."""
        ...

    @property
    def bits(self) -> int:
        """Bits of an element."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        ...

    @property
    def swizzle(self) -> int:
        """Span of the swizzle in bytes, 0 without."""
        ...


def misfit(source: Bytes, target: Bytes) -> str:
    """Say why a piece of `source`, as large as `target`, is not one run of bytes in units of 16 that mean the
    same there; empty where it is.
    """
    if source.dtype != target.dtype:
        return f"a copy converts nothing, from {source.dtype} to {target.dtype}"
    if source.swizzle != target.swizzle:
        return (
            f"a copy keeps the order of bytes, from a swizzle of {source.swizzle} to one of {target.swizzle}"
        )
    if len(target.shape) > len(source.shape):
        return f"{len(target.shape)} dimensions do not fit into {len(source.shape)}"
    whole = source.shape
    piece = (*(1 for _ in whole[len(target.shape) :]), *target.shape)
    if any(part > extent for part, extent in zip(piece, whole, strict=True)):
        return f"a piece of {_times(target.shape)} elements is larger than {_times(whole)}"
    if prod(piece) * source.bits // 8 % GRAIN:
        return f"the piece is {prod(piece) * source.bits // 8:,} bytes, no multiple of {GRAIN}"
    first = next((i for i, extent in enumerate(piece) if extent > 1), len(piece) - 1)
    if piece[first + 1 :] != whole[first + 1 :]:
        return f"a piece of {_times(target.shape)} elements lies in several parts of {_times(whole)}"
    return _cut_pattern(source, piece, first) if source.swizzle else ""


def _cut_pattern(source: Bytes, piece: tuple[int, ...], first: int) -> str:
    """Say why the swizzle of a buffer does not repeat from piece to piece."""
    row, pattern = source.shape[-1] * source.bits // 8, 8 * source.swizzle
    if piece == source.shape:
        return ""
    if row > source.swizzle:
        return f"rows of {row:,} bytes are wider than the swizzle of {source.swizzle}"
    if prod(source.shape[first + 1 :]) * source.bits // 8 % pattern:
        return f"pieces do not begin at multiples of {pattern:,} bytes, where the swizzle does"
    return ""


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{extent:,}" for extent in shape)


def _inside(lowering: Lowering, source: BufferOperand, target: BufferOperand, at: tuple[Expr, ...]) -> None:
    piece = (*(1 for _ in source.shape[len(target.shape) :]), *target.shape)
    for where, part, extent in zip(at, piece, source.shape, strict=True):
        bounds, limit = lowering.interval(where), build(Int(extent))
        below = bounds.lo >= 0 or lowering.proves(not_below(where))
        beyond = bounds.hi <= extent - part or lowering.proves(not_beyond(where, part, limit))
        if not (below and beyond):
            lowering.refuse(
                f"`cluster_copy` is never clipped, and `{where.text}` is not shown to leave {part:,} of the "
                f"{extent:,} elements of `{source.text}` inside"
            )


def _offset(lowering: Lowering, source: BufferOperand, at: tuple[Expr, ...]) -> str:
    """Return the C++ of the bytes before a place in a buffer."""
    total: Expr | None = None
    for i, where in enumerate(at):
        if lowering.flat(where).value == 0:
            continue
        size = prod(source.shape[i + 1 :]) * source.bits // 8
        if prod(source.shape[i + 1 :]) * source.bits % 8 or size * lowering.multiple(where) % GRAIN:
            lowering.refuse(
                f"`{where.text}` of `{source.text}` is not shown to begin at a multiple of {GRAIN} bytes"
            )
        term = Binary("*", where.tree, Int(size))
        total = build(term if total is None else Binary("+", total.tree, term))
    return "0" if total is None else lowering.text(total)


OP = Operation(
    model=ClusterCopy,
    accesses=(
        touches("cluster_copy", "read", "smem", engine=Engine.TMA),
        touches("to", "write", "smem", engine=Engine.TMA),
    ),
    issuer="one",
    template=TEMPLATE,
    bind=bind,
)
