"""Whether a box surely lies inside a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from tsc.expr import Expr, build
from tsc.expr.tree import Binary, Compare, Int
from tsc.ops.lowering import Lowering, TensorOperand


def not_below(at: Expr) -> Expr:
    """Return the condition that a coordinate is not negative."""
    return build(Compare((">=",), (at.tree, Int(0))))


def not_beyond(at: Expr, extent: Expr | int, limit: Expr) -> Expr:
    """Return the condition that so many elements from a coordinate on end at the limit or before it."""
    length = Int(extent) if isinstance(extent, int) else extent.tree
    return build(Compare(("<=",), (Binary("+", at.tree, length), limit.tree)))


def lies_inside(
    lowering: Lowering, tensor: TensorOperand, at: Sequence[Expr], extents: Sequence[Expr | int]
) -> bool:
    """Whether the box of these extents at these coordinates surely lies inside the tensor."""
    return all(
        lowering.proves(not_below(first)) and lowering.proves(not_beyond(first, extent, limit))
        for first, extent, limit in zip(at, extents, tensor.shape, strict=True)
    )
