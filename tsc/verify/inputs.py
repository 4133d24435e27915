"""How the inputs of a case are made: as the spec says, else N(0, 1), integers evenly over small ranges."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, Final

from tsc.artifact.manifest import DTYPE_BITS
from tsc.verify.arrays import FLOATS, Arrays, integer_bounds
from tsc.verify.layout import Layout
from tsc.verify.plan import Input, PlanError

SMALL: Final = 1_000
"""Integers of 16 bits and more lie between so much and its negative; narrower ones take all their values."""


def made(arrays: Arrays, layout: Layout, how: Input | None) -> Any:
    """Fresh bits for a tensor, in stored order. Raises PlanError where the spec's values do not fit."""
    shape = arrays.stored_shape(layout)
    return arrays.encode(_values(arrays, layout, shape, how), layout.dtype)


def _values(arrays: Arrays, layout: Layout, shape: tuple[int, ...], how: Input | None) -> Any:
    dtype = layout.dtype
    if how is None:
        if dtype in FLOATS:
            return arrays.normal(shape)
        low, high = integer_bounds(dtype)
        if DTYPE_BITS[dtype] > 8:
            low, high = max(low, -SMALL), min(high, SMALL)
        return arrays.integers(shape, low, high)
    match how.kind:
        case "zeros":
            return arrays.integers(shape, 0, 0)
        case "lengths":
            sums = tuple(accumulate(how.values, initial=0))
            elements = math.prod(shape)
            if len(sums) != elements:
                raise PlanError(
                    f"`lengths` of `{layout.name}` gives {len(sums):,} running sums, and the case has room "
                    f"for {elements:,}"
                )
            return arrays.listed(sums, shape)
        case _:
            low_bound, high_bound = how.values
            if dtype in FLOATS:
                return arrays.uniform(shape, low_bound, high_bound)
            return arrays.integers(shape, math.ceil(low_bound), math.floor(high_bound))
