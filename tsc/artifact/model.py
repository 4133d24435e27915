"""The manifest's types: what the loader must know about a kernel, one class an object of the JSON text.

Every shape, extent and value is the text of an expression over dims, constants, integer scalars and `sms`,
the number of multiprocessors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

MANIFEST_VERSION: Final = 1
"""Raised by a change that an older reader would get wrong; a key that it may overlook does not raise it."""

DTYPE_BITS: Final[Mapping[str, int]] = {
    "f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m1": 4,
    "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4,
    "u64": 64, "u32": 32, "u16": 16, "u8": 8, "u4": 4, "bool": 8,
}  # fmt: skip
"""Bits of one element of a tensor."""

ARGUMENT_TYPES: Final = ("i32", "u32", "i64", "u64", "f32", "f64", "f16", "bf16", "bool")
"""What a kernel takes by value."""

Constant: TypeAlias = int | bool | float | str


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor the caller passes. A shape entry that is a bare name binds that dim."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    order: tuple[int, ...]
    """dimensions from the slowest to the contiguous one"""
    access: Literal["in", "out", "inout"]
    align: int
    """bytes that the base pointer is a multiple of"""
    stride_multiple: int
    """elements that every stride but the last in `order` is a multiple of"""
    packed: bool
    constant: bool
    padded: bool = False
    """the bytes behind each row, up to a multiple of 16, are its own"""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number the caller passes."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """Device memory that the loader makes."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    zero: Literal["never", "once", "every_launch"]


@dataclass(frozen=True, slots=True)
class Dim:
    """What a run-time extent may be; both ends belong to the range.

    A tensor that is empty because this is 0 keeps the kernel from being launched, unless it `runs_at_zero`.
    """

    min: int
    max: int
    multiple_of: int
    runs_at_zero: bool = False


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition that holds at every launch, and its wording."""

    expr: str
    text: str


@dataclass(frozen=True, slots=True)
class TensorMapArgument:
    """A tensor map, passed by value in 128 bytes; `map` is an index into `tensor_maps`."""

    map: int


@dataclass(frozen=True, slots=True)
class PointerArgument:
    """The base address of a tensor or of a workspace."""

    tensor: str


@dataclass(frozen=True, slots=True)
class StrideArgument:
    """The stride of one dimension of a tensor, in elements."""

    tensor: str
    dim: int
    type: str


@dataclass(frozen=True, slots=True)
class ValueArgument:
    """An expression's value at launch."""

    expr: str
    type: str


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar as the caller passed it."""

    param: str
    type: str


@dataclass(frozen=True, slots=True)
class CounterArgument:
    """The address of the counter of a queue: 32 bits of the loader's, which launches that may run at the same
    time never share. They are 0 before each launch, and the kernel leaves them so.
    """

    queue: str


Argument: TypeAlias = (
    TensorMapArgument | PointerArgument | StrideArgument | ValueArgument | ScalarArgument | CounterArgument
)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """How a tensor map is encoded."""

    tensor: str
    box: tuple[int, ...]
    """elements a dimension, in the tensor's `order`"""
    swizzle: Literal[0, 32, 64, 128]
    """bytes, 0 for none"""
    l2: Literal[0, 64, 128, 256]
    """bytes that a load promotes to the L2 cache"""
    fill: Literal["zero", "nan"]
    """what lies outside the tensor"""


@dataclass(frozen=True, slots=True)
class Region:
    """A resource's place in dynamic shared memory, in bytes; `stages` parts of equal size.

    `over` says on whose bytes it lies; empty where they are its own.
    """

    name: str
    offset: int
    bytes: int
    stages: int
    over: str = ""


@dataclass(frozen=True, slots=True)
class Barrier:
    """Equal mbarriers in a row, of 8 bytes each, and the arrivals that each one waits for."""

    name: str
    offset: int
    count: int
    arrivals: int


@dataclass(frozen=True, slots=True)
class Queue:
    """How tiles reach the CTAs; `stages` answers are in flight, none where tiles follow by number."""

    name: str
    policy: Literal["grid", "static", "atomic", "clc"]
    stages: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a launch needs beside the code."""

    manifest: int
    tsc_version: str
    kernel: str
    arch: str
    spec: str
    spec_sha256: str
    constants: Mapping[str, Constant]
    params: tuple[Tensor | Scalar, ...]
    workspace: tuple[Workspace, ...]
    dims: Mapping[str, Dim]
    asserts: tuple[Assertion, ...]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    grid: tuple[str, str, str]
    """CTAs, not clusters"""
    smem_bytes: int
    """dynamic shared memory"""
    ctas_per_sm: int
    pdl: bool
    arguments: tuple[Argument, ...]
    """the kernel's parameters in their order"""
    tensor_maps: tuple[TensorMap, ...]
    layout: tuple[Region, ...]
    barriers: tuple[Barrier, ...]
    queue: Queue | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors among the parameters."""
        return tuple(param for param in self.params if isinstance(param, Tensor))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The scalars among the parameters."""
        return tuple(param for param in self.params if isinstance(param, Scalar))
