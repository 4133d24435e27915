"""An output against its reference: by norm and element by element."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tsc.verify.arrays import FLOATS, LARGEST, Arrays
from tsc.verify.layout import Layout
from tsc.verify.results import OutputResult, Worst

ROUNDING: Final[Mapping[str, float]] = {
    "f64": 1e-9, "f32": 1e-3, "tf32": 1e-3, "f16": 4e-3, "bf16": 1.6e-2,
    "e4m3": 7e-2, "e5m2": 0.13, "e2m1": 0.26,
}  # fmt: skip
"""What an output of a type may be off by, relative: twice its rounding, and fp32 sums."""

NARROW: Final[Mapping[str, float]] = {"tf32": 2e-3, "e4m3": 1.6e-2, "e5m2": 1.6e-2, "e2m1": 1.6e-2}
"""What inputs of a type make of any output: tensor cores sum up products of 8 bits in fewer than 24."""

NORM: Final = 1e-2
"""The most that the relative error of an output may be, where its type is not coarser than that."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An element may be off by `atol + rtol * |wanted|`; `atol` of None is `rtol` times the root mean square.

    `norm` is the most that the relative error of the whole may be, None where the elements alone decide.
    """

    rtol: float
    atol: float | None
    norm: float | None


def tolerance_for(dtype: str, inputs: Iterable[str], rtol: float | None, atol: float | None) -> Tolerance:
    """What is tolerated of an output, from its type and those of the inputs where the spec says nothing."""
    if dtype not in FLOATS:
        return Tolerance(rtol or 0.0, atol or 0.0, None)
    by_type = max([ROUNDING[dtype], *(NARROW.get(one, 0.0) for one in inputs)])
    if rtol is not None or atol is not None:
        return Tolerance(by_type if rtol is None else rtol, atol, None)
    coarse = dtype in LARGEST
    return Tolerance(by_type, None, by_type if coarse else min(NORM, by_type))


def compare(
    arrays: Arrays, layout: Layout, got: Any, wanted: Any, tolerance: Tolerance, wide: bool
) -> OutputResult:
    """Compare values of one shape; `wanted` beyond what the type holds counts as its largest value."""
    with arrays.quiet():
        return _compare(arrays, layout, got, wanted, tolerance, wide)


def _compare(
    arrays: Arrays, layout: Layout, got: Any, wanted: Any, tolerance: Tolerance, wide: bool
) -> OutputResult:
    xp = arrays.xp
    elements = math.prod(layout.shape)
    if not elements:
        return OutputResult(layout.name, 0)
    if layout.dtype in LARGEST:
        wanted = wanted.clip(-LARGEST[layout.dtype], LARGEST[layout.dtype])
    same = (got == wanted) | (xp.isnan(got) & xp.isnan(wanted))
    zero = arrays.number(0.0, wide)
    off = xp.where(same, zero, xp.abs(got - wanted))
    finite = xp.where(xp.isfinite(wanted), wanted, zero)
    size = arrays.norm(finite)
    error = arrays.norm(off)
    relative = error / size if size else (0.0 if error == 0 else math.inf)
    atol = tolerance.rtol * size / math.sqrt(elements) if tolerance.atol is None else tolerance.atol
    allowed = atol + tolerance.rtol * xp.abs(finite)
    tiny = arrays.number(1e-30, wide)
    share = xp.where(same, zero, off / xp.where(allowed > tiny, allowed, tiny))
    # An infinite or undefined difference is beyond all that is tolerated.
    share = xp.where(xp.isfinite(share), share, arrays.number(math.inf, wide))
    wrong = int((share > 1).sum().item())
    worst = _worst(layout, share, got, wanted)
    faults = []
    if wrong:
        faults.append(
            f"{wrong:,} of {elements:,} elements of `{layout.name}` are off by more than {atol:.3g} + "
            f"{tolerance.rtol:g} x |reference|"
        )
    if tolerance.norm is not None and not relative <= tolerance.norm:
        faults.append(
            f"the relative error of `{layout.name}` is {relative:.3g}, and {tolerance.norm:g} is tolerated"
        )
    return OutputResult(
        name=layout.name,
        elements=elements,
        relative_error=relative,
        worst=worst,
        faults=tuple(faults),
    )


def _worst(layout: Layout, share: Any, got: Any, wanted: Any) -> Worst | None:
    flat = share.reshape(-1)
    place = int(flat.argmax().item())
    largest = float(flat[place].item())
    if largest == 0:
        return None
    return Worst(
        index_of(place, layout.shape),
        float(got.reshape(-1)[place].item()),
        float(wanted.reshape(-1)[place].item()),
        largest,
    )


def index_of(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The indices of an element by its number in row-major order."""
    index = []
    for extent in reversed(shape):
        index.append(place % extent)
        place //= extent
    return tuple(reversed(index))
