"""The array notation of `verify.reference`: read, and its shapes worked out.

Standard library only, so that a machine which only runs kernels can evaluate what a plan says.
"""

from __future__ import annotations

from tsc.notation.parser import parse
from tsc.notation.shapes import ShapeError, Shapes, shape_of
from tsc.notation.tree import (
    FUNCTIONS,
    Binary,
    Call,
    Minus,
    Node,
    NotationError,
    Number,
    Ref,
    Swapped,
    names,
    walk,
)

__all__ = [
    "FUNCTIONS",
    "Binary",
    "Call",
    "Minus",
    "Node",
    "NotationError",
    "Number",
    "Ref",
    "ShapeError",
    "Shapes",
    "Swapped",
    "names",
    "parse",
    "shape_of",
    "walk",
]
