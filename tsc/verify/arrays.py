"""What arrays have to do here, whoever holds them: PyTorch on the GPU, or NumPy beside it.

Bits are integers as they lie in memory, in the order they are stored; values are floats in a tensor's shape.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Final

from tsc.artifact.manifest import DTYPE_BITS
from tsc.verify.layout import Layout

FLOATS: Final = frozenset(("f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m1"))

LARGEST: Final[Mapping[str, float]] = {"e4m3": 448.0, "e5m2": 57_344.0, "e2m1": 6.0}
"""Of types whose conversions saturate."""

E2M1: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)

POISON: Final[Mapping[str, tuple[int, int]]] = {
    "f64": (0x7FF8_A5A5_A5A5_A5A5, 0x7FF8_5A5A_5A5A_5A5A),
    "f32": (0x7FE5_A5A5, 0x7FDA_5A5A),
    "tf32": (0x7FE5_A5A5, 0x7FDA_5A5A),
    "f16": (0x7F25, 0x7EDA),
    "bf16": (0x7FE5, 0x7FDA),
    "e4m3": (0x7F, 0xFF),
    "e5m2": (0x7F, 0xFE),
}
"""Two NaNs that differ; an element that holds both after two launches was written by neither."""


def poison(dtype: str) -> tuple[int, int]:
    """Two patterns for a unit of memory, not equal in any element: NaNs of floats that have them."""
    if dtype in POISON:
        return POISON[dtype]
    if DTYPE_BITS[dtype] == 4:
        return 0x55, 0xAA
    width = DTYPE_BITS[dtype]
    return int("a5" * (width // 8), 16), int("5a" * (width // 8), 16)


def integer_bounds(dtype: str) -> tuple[int, int]:
    """The smallest and the largest value of an integer type."""
    bits = 1 if dtype == "bool" else DTYPE_BITS[dtype]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.startswith("i") else (0, (1 << bits) - 1)


class Arrays(ABC):
    """Memory of a device, random numbers, conversions, and arithmetic in float64 or float32."""

    xp: Any
    """numpy or torch, for the many functions that both have under one name"""
    device: str
    """what the arrays are on, in words"""
    library: ClassVar[str]

    @abstractmethod
    def raw(self, size: int) -> Any:
        """So many bytes of device memory."""

    @abstractmethod
    def fill(self, raw: Any, byte: int) -> None:
        """Set every byte."""

    @abstractmethod
    def elements(self, raw: Any, layout: Layout) -> Any:
        """The tensor's units in a buffer, as integers in stored order; a view."""

    @abstractmethod
    def store(self, raw: Any, layout: Layout, bits: Any) -> None:
        """Write units (integers of `encode`, or one for all) where the tensor lies."""

    @abstractmethod
    def load(self, raw: Any, layout: Layout) -> Any:
        """A dense copy of the tensor's units, in stored order."""

    @abstractmethod
    def outside(self, raw: Any, layout: Layout, byte: int) -> int | None:
        """The first byte that is not `byte` among those that are not the tensor's own, if there is one."""

    @abstractmethod
    def checksum(self, raw: Any) -> int:
        """A number that tells a buffer from nearly every other one of its size."""

    @abstractmethod
    def argument(self, raw: Any, layout: Layout) -> Any:
        """What a kernel takes for the tensor."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device is idle, and see what it has written. Raises an error of the driver's."""

    @abstractmethod
    def seed(self, seed: int) -> None:
        """Begin the random numbers anew."""

    @abstractmethod
    def normal(self, shape: tuple[int, ...]) -> Any:
        """Values of N(0, 1)."""

    @abstractmethod
    def uniform(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        """Values between two bounds."""

    @abstractmethod
    def integers(self, shape: tuple[int, ...], low: int, high: int) -> Any:
        """Integers between two bounds, both included."""

    @abstractmethod
    def listed(self, values: tuple[float, ...], shape: tuple[int, ...]) -> Any:
        """The values of a list, in float64."""

    @abstractmethod
    def from_host(self, values: Any, wide: bool) -> Any:
        """A NumPy array as values."""

    @abstractmethod
    def to_host(self, values: Any) -> Any:
        """Values as a NumPy array."""

    @abstractmethod
    def encode(self, values: Any, dtype: str) -> Any:
        """Values of one dtype as bits, rounded; the last dimension is the stored one."""

    @abstractmethod
    def decode(self, bits: Any, dtype: str, wide: bool) -> Any:
        """Bits as float64 (`wide`) or float32."""

    @abstractmethod
    def whole(self, bits: Any, dtype: str) -> Any:
        """Bits of an integer type as integers."""

    @abstractmethod
    def permuted(self, values: Any, places: tuple[int, ...]) -> Any:
        """Values with their dimensions in another order, dense."""

    @abstractmethod
    def number(self, value: float, wide: bool) -> Any:
        """A number as values without dimensions."""

    @abstractmethod
    def call(self, function: str, values: Any) -> Any:
        """A function of the notation that keeps the shape, but `causal`, or that sums up the last axis."""

    @abstractmethod
    def triangle(self, rows: int, columns: int) -> Any:
        """Which columns a row of a causal matrix sees; the last row sees all."""

    @abstractmethod
    def first(self, mask: Any) -> int:
        """The place, in row-major order, of the first element that is true; there is one."""

    @abstractmethod
    def norm(self, values: Any) -> float:
        """The Euclidean norm of all values, summed in float64."""

    def quiet(self) -> AbstractContextManager[object]:
        """Arithmetic in here gives infinities and NaNs without a word."""
        return nullcontext()

    def stored_shape(self, layout: Layout) -> tuple[int, ...]:
        """The shape of a tensor's values in stored order."""
        return tuple(layout.shape[dim] for dim in layout.order)

    def values(self, bits: Any, layout: Layout, wide: bool) -> Any:
        """A tensor's bits as values in its shape."""
        return self.permuted(self.decode(bits, layout.dtype, wide), layout.places)
