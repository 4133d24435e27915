"""What a kernel is called with: params, workspace, promises about sizes, the launch (LANGUAGE section 6)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from tsc.model import WHOLE, Expression, Flag, Integer, Model, Name

DType = Literal[
    "f32", "f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "i8", "u8", "i4", "u4", "i32", "u32", "i64", "bool"
]


def _major(value: Any) -> str:
    return "index" if isinstance(value, int) and not isinstance(value, bool) else "name"


Major = Annotated[Annotated[Name, Tag("name")] | Annotated[Integer, Tag("index")], Discriminator(_major)]


class Param(Model):
    """A run-time argument: a tensor if it has a shape, else a scalar."""

    dtype: DType
    """The type of an element."""
    shape: tuple[Expression, ...] | None = None
    """Extents: dims, build-time expressions, or `dim + c`, `dim * c`, `dim // c`.

    `[]` is one value on the device."""
    major: Major | None = None
    """The contiguous dimension, by its name or its index; the last one if left out."""
    packed: Flag = False
    """A promise that there are no gaps between rows."""
    padded: Flag = False
    """A promise that the bytes behind each row, up to a multiple of 16, belong to the tensor."""
    constant: Flag = False
    """A promise that no kernel before this one writes it."""


class Workspace(Model):
    """A tensor that the loader makes and passes after the params."""

    dtype: DType
    """The type of an element."""
    shape: tuple[Expression, ...]
    """Extents, launch-time expressions."""
    zero: Literal["never", "once", "every_launch"] = "never"
    """When the loader clears it."""


class Dim(Model):
    """Promises about a run-time size; the loader refuses calls that break them."""

    multiple_of: Expression | None = None
    """The size is a multiple of this, a build-time value as the two below."""
    min: Expression | None = None
    """The size is at least this."""
    max: Expression | None = None
    """The size is at most this. Above 2,147,483,647 the kernel computes with 64 bits."""


class Launch(Model):
    """Grid, cluster and occupancy."""

    grid: tuple[Expression, ...] | None = Field(default=None, min_length=1, max_length=3)
    """One to three extents of the grid; needed without a queue, refused with one."""
    cluster: dict[str, Expression] = Field(default_factory=dict)
    """Cluster axis to CTAs along it."""
    cta_group: Annotated[Literal[1, 2], WHOLE] = 1
    """2: tensor-core pairs along the first cluster axis."""
    ctas: Expression | None = None
    """Persistent CTAs; as few as make even waves if left out."""
    ctas_per_sm: Integer = Field(default=1, ge=1, le=32)
    """CTAs that a multiprocessor can hold; also the launch bound."""
    non_portable_cluster: Flag = False
    """Allows clusters of more than 8 CTAs."""
