"""Where a tensor of a case lies: a pitch that the kernel may be given, and a guard zone round it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Final

from tsc.artifact.manifest import DTYPE_BITS, Manifest, Tensor
from tsc.expr import EvalError, evaluate, parse
from tsc.expr.hints import listing
from tsc.verify.plan import Case, PlanError, Value

GUARD: Final = 1024
"""Bytes before and behind each tensor that no kernel may touch."""


ROW: Final = 16
"""Bytes that a padded row is a multiple of."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A tensor in a buffer of `bytes` bytes: its first element `offset` bytes in, strides in elements.

    `stored` and `pitches` are shape and strides from the slowest dimension to the contiguous one, counted in
    units of `unit` bytes: elements, or bytes that hold two elements. What is `padded` may be written behind
    each row, up to a multiple of 16 bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    order: tuple[int, ...]
    offset: int
    bytes: int
    padded: bool = False

    @property
    def owned(self) -> Layout:
        """The same with its padding: all that a kernel may write."""
        if not self.padded or not self.shape:
            return self
        whole = ROW * 8 // DTYPE_BITS[self.dtype]
        inner = self.order[-1]
        shape = (-(-e // whole) * whole if dim == inner else e for dim, e in enumerate(self.shape))
        return replace(self, shape=tuple(shape))

    @property
    def packs(self) -> int:
        """Elements of a unit: 2 where a byte holds two."""
        return 2 if DTYPE_BITS[self.dtype] == 4 else 1

    @property
    def unit(self) -> int:
        """Bytes of a unit."""
        return max(1, DTYPE_BITS[self.dtype] // 8)

    @property
    def stored(self) -> tuple[int, ...]:
        """Extents in units, slowest dimension first."""
        extents = [self.shape[dim] for dim in self.order]
        return (*extents[:-1], extents[-1] // self.packs) if extents else ()

    @property
    def pitches(self) -> tuple[int, ...]:
        """Strides in units, slowest dimension first."""
        strides = [self.strides[dim] for dim in self.order]
        return (*(stride // self.packs for stride in strides[:-1]), 1) if strides else ()

    @property
    def places(self) -> tuple[int, ...]:
        """Which stored dimension each dimension of the tensor is."""
        return tuple(self.order.index(dim) for dim in range(len(self.shape)))


def names_of(manifest: Manifest, case: Case) -> dict[str, int | bool]:
    """The integers of a case by name: constants, dims and integer scalars. Raises PlanError."""
    known: dict[str, int | bool] = {
        name: value for name, value in manifest.constants.items() if isinstance(value, int)
    }
    for name in manifest.dims:
        value = case.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            said = "gives none" if value is None else f"gives `{value}`"
            raise PlanError(f"the kernel takes a size `{name}`, and the case {said}; write `{name}=...`")
        known[name] = value
    for scalar in manifest.scalars:
        value = case.get(scalar.name)
        if value is None:
            raise PlanError(
                f"the kernel takes a number `{scalar.name}`, and the case has none; write `{scalar.name}=...`"
            )
        if isinstance(value, int):
            known[scalar.name] = value
    return known


def as_run(manifest: Manifest, case: Case) -> dict[str, Value]:
    """The case with what the kernel was built for. Raises PlanError for a name that it does not take."""
    fixed = {name: value for name, value in manifest.constants.items() if isinstance(value, (int, bool))}
    taken = [*manifest.dims, *(scalar.name for scalar in manifest.scalars)]
    for name in case:
        if name not in fixed and name not in taken:
            raise PlanError(f"the kernel takes no `{name}`; its sizes and numbers are {listing(taken)}")
    return {name: fixed.get(name, value) for name, value in case.items()}


def pitch_multiple(tensor: Tensor) -> int:
    """Elements that the distances of rows are multiples of, for the kernel's sake and the padding's."""
    return lcm(tensor.stride_multiple, ROW * 8 // DTYPE_BITS[tensor.dtype] if tensor.padded else 1)


def lay_out(tensor: Tensor, known: Mapping[str, int | bool]) -> Layout:
    """Where a tensor lies. Rows that need not touch lie apart, so that a write behind a row's end is seen.

    Raises PlanError where an extent has no value.
    """
    shape = tuple(_extent(tensor.name, text, known) for text in tensor.shape)
    halves = DTYPE_BITS[tensor.dtype] == 4
    multiple = max(pitch_multiple(tensor), 2 if halves else 1)
    if halves and shape and shape[tensor.order[-1]] % 2:
        raise PlanError(f"`{tensor.name}` holds two elements a byte, and {shape[tensor.order[-1]]:,} are odd")
    strides = [0] * len(shape)
    run = 1
    for index, dim in enumerate(reversed(tensor.order)):
        if index and not tensor.packed:
            run = -(-run // multiple) * multiple + (multiple if index == 1 else 0)
        strides[dim] = run
        run *= max(1, shape[dim])
    guard = max(GUARD, tensor.align)
    size = -(-run * DTYPE_BITS[tensor.dtype] // 8)
    return Layout(
        name=tensor.name,
        dtype=tensor.dtype,
        shape=shape,
        strides=tuple(strides),
        order=tensor.order,
        offset=guard,
        bytes=-(-(2 * guard + size) // 16) * 16,
        padded=tensor.padded,
    )


def _extent(name: str, text: str, known: Mapping[str, int | bool]) -> int:
    try:
        extent = int(evaluate(parse(text), known))
    except EvalError as error:
        raise PlanError(f"the extent `{text}` of `{name}` has no value: {error}") from None
    if extent < 0:
        raise PlanError(f"the extent `{text}` of `{name}` is {extent:,} in this case")
    return extent
