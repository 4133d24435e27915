"""How much a kernel has to do, by what its spec says: its tensors, and the products of its reference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tsc.artifact.manifest import DTYPE_BITS, Manifest
from tsc.notation import Binary, Node, Shapes, shape_of, walk
from tsc.verify.layout import lay_out
from tsc.verify.plan import PlanError

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What one launch does at the least."""

    flop: int
    """2 m n k of each matrix product in the reference; 0 without a reference or a product in it"""
    bytes: int
    """each input read once, each output written once"""

    @property
    def unit(self) -> str:
        """What a speed is given in."""
        return "TFLOP/s" if self.flop else "GB/s"

    def speed(self, seconds: float) -> float:
        """The speed of a launch of so many seconds, in `unit`."""
        return self.flop / seconds / 1e12 if self.flop else self.bytes / seconds / 1e9


def shapes_of(manifest: Manifest, known: Mapping[str, int | bool]) -> dict[str, Shape]:
    """The shape of each tensor of a case. Raises PlanError where an extent has no value."""
    return {tensor.name: lay_out(tensor, known).shape for tensor in manifest.tensors}


def work_of(manifest: Manifest, known: Mapping[str, int | bool], reference: Iterable[Node]) -> Work:
    """The work of a case, given its integers by name. Raises PlanError or ShapeError."""
    shapes = shapes_of(manifest, known)
    moved = 0
    for tensor in manifest.tensors:
        times = 2 if tensor.access == "inout" else 1
        moved += times * math.prod(shapes[tensor.name]) * DTYPE_BITS[tensor.dtype] // 8
    numbers: dict[str, Shape] = {name: () for name in known}
    numbers |= {scalar.name: () for scalar in manifest.scalars}
    return Work(sum(flop_of(node, {**numbers, **shapes}) for node in reference), moved)


def flop_of(reference: Node, known: Mapping[str, Shape]) -> int:
    """The operations of all matrix products in a reference. Raises ShapeError for shapes that do not fit."""
    shapes: Shapes[int] = Shapes(known, one=1, same=lambda one, other: one == other)
    found = 0
    for node in walk(reference):
        if isinstance(node, Binary) and node.op == "@":
            left, product = shape_of(node.left, shapes), shape_of(node, shapes)
            if left is None or product is None:
                raise PlanError("the reference names what is neither a param nor a size")
            found += 2 * math.prod(product) * left[-1]
    return found
