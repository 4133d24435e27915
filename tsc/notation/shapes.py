"""The shape of a reference, from those of its names; what cannot fit is said where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tsc.notation.tree import FUNCTIONS, Binary, Call, Minus, Node, NotationError, Number, Ref, Swapped

Extent = TypeVar("Extent")


class ShapeError(NotationError):
    """Operands whose shapes do not fit, at the node that joins them."""


@dataclass(slots=True)
class Shapes(Generic[Extent]):
    """Shapes by name, numbers having none, and how extents compare: `same` gives None where it is not known.

    `elements` gets the shape of every node that is looked at.
    """

    known: Mapping[str, tuple[Extent, ...]]
    one: Extent
    same: Callable[[Extent, Extent], bool | None]
    show: Callable[[Extent], str] = str
    seen: list[tuple[Extent, ...]] = field(default_factory=list)


def shape_of(node: Node, shapes: Shapes[Extent]) -> tuple[Extent, ...] | None:
    """The shape of a reference, None if a name in it is not known. Raises ShapeError."""
    shape = _shape(node, shapes)
    if shape is not None:
        shapes.seen.append(shape)
    return shape


def _shape(node: Node, shapes: Shapes[Extent]) -> tuple[Extent, ...] | None:
    match node:
        case Number():
            return ()
        case Ref(name=name):
            return shapes.known.get(name)
        case Minus(operand=operand):
            return shape_of(operand, shapes)
        case Swapped(operand=operand):
            shape = shape_of(operand, shapes)
            return None if shape is None else _swapped(node, shape, shapes)
        case Binary(op="@", left=left, right=right):
            first, second = shape_of(left, shapes), shape_of(right, shapes)
            if first is None or second is None:
                return None
            return _product(node, first, second, shapes)
        case Binary(left=left, right=right):
            first, second = shape_of(left, shapes), shape_of(right, shapes)
            if first is None or second is None:
                return None
            return joined(node, first, second, shapes)
        case Call(function=function, args=args):
            found = [shape_of(one, shapes) for one in args]
            known = [shape for shape in found if shape is not None]
            return _called(node, function, known, shapes) if len(known) == len(found) else None


def _called(
    node: Call, function: str, found: list[tuple[Extent, ...]], shapes: Shapes[Extent]
) -> tuple[Extent, ...]:
    if FUNCTIONS[function] == "where":
        condition, first, second = found
        return joined(node, joined(node, condition, first, shapes), second, shapes)
    (shape,) = found
    least = 2 if function == "causal" else 1 if function == "softmax" or FUNCTIONS[function] == "row" else 0
    if len(shape) < least:
        what = "the last two dimensions" if least == 2 else "the last dimension"
        raise ShapeError(
            f"`{function}` goes over {what}, and this is {show(shape, shapes)}",
            node.start,
            node.end,
            "give it an array that has them"
            if shape
            else "a number stands for itself; leave the function out",
        )
    return (*shape[:-1], shapes.one) if FUNCTIONS[function] == "row" else shape


def _swapped(node: Swapped, shape: tuple[Extent, ...], shapes: Shapes[Extent]) -> tuple[Extent, ...]:
    if len(shape) < 2:
        raise ShapeError(
            f"`.{node.suffix}` exchanges two dimensions, and this is {show(shape, shapes)}",
            node.start,
            node.end,
            f"leave `.{node.suffix}` out",
        )
    if node.suffix == "T" and len(shape) > 2:
        raise ShapeError(
            f"`.T` is of a matrix, and this is {show(shape, shapes)}",
            node.start,
            node.end,
            "write `.mT`, which exchanges the last two dimensions",
        )
    return (*shape[:-2], shape[-1], shape[-2])


def _product(
    node: Binary, first: tuple[Extent, ...], second: tuple[Extent, ...], shapes: Shapes[Extent]
) -> tuple[Extent, ...]:
    if not first or not second:
        raise ShapeError(
            "`@` multiplies arrays, and one of these is a number", node.start, node.end, "write `*`"
        )
    left = first if len(first) > 1 else (shapes.one, *first)
    right = second if len(second) > 1 else (*second, shapes.one)
    if shapes.same(left[-1], right[-2]) is False:
        help = ""
        if len(second) > 1 and shapes.same(left[-1], right[-1]) is not False:
            help = f"exchange the second one's dimensions, with `.{'T' if len(second) == 2 else 'mT'}`"
        elif len(first) > 1 and shapes.same(left[-2], right[-2]) is not False:
            help = f"exchange the first one's dimensions, with `.{'T' if len(first) == 2 else 'mT'}`"
        raise ShapeError(
            f"`@` joins {show(first, shapes)} and {show(second, shapes)}, whose inner extents "
            f"{shapes.show(left[-1])} and {shapes.show(right[-2])} differ",
            node.start,
            node.end,
            help or "the last extent of the first one is the last but one of the second",
        )
    outer = joined(node, left[:-2], right[:-2], shapes)
    rows = (left[-2],) if len(first) > 1 else ()
    columns = (right[-1],) if len(second) > 1 else ()
    return (*outer, *rows, *columns)


def joined(
    node: Node, first: tuple[Extent, ...], second: tuple[Extent, ...], shapes: Shapes[Extent]
) -> tuple[Extent, ...]:
    """The shape of two operands element by element, an extent of 1 standing for any. Raises ShapeError."""
    rank = max(len(first), len(second))
    left = (shapes.one,) * (rank - len(first)) + first
    right = (shapes.one,) * (rank - len(second)) + second
    out = []
    for a, b in zip(left, right, strict=True):
        if shapes.same(a, b):
            out.append(a)
        elif shapes.same(a, shapes.one):
            out.append(b)
        elif shapes.same(b, shapes.one):
            out.append(a)
        elif (
            shapes.same(a, b) is False
            and shapes.same(a, shapes.one) is False
            and shapes.same(b, shapes.one) is False
        ):
            op = f"`{node.op}` joins" if isinstance(node, Binary) else "this joins"
            raise ShapeError(
                f"{op} {show(first, shapes)} and {show(second, shapes)}, whose extents {shapes.show(a)} and "
                f"{shapes.show(b)} differ",
                node.start,
                node.end,
                "extents are compared from the last one, and are equal or 1",
            )
        else:
            out.append(a)
    return tuple(out)


def show(shape: tuple[Extent, ...], shapes: Shapes[Extent]) -> str:
    """A shape as a sentence names it."""
    return f"[{', '.join(map(shapes.show, shape))}]" if shape else "a number"
