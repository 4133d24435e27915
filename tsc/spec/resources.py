"""Storage and synchronisation: the kinds of resource (LANGUAGE section 7)."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from tsc.expr import parse
from tsc.model import BY_FORM, WHOLE, Expression, Integer, Mapping, Model, Name, Operand, Scalar
from tsc.spec.arguments import DType
from tsc.tiles.linear import LinearOrder
from tsc.tiles.registry import ORDERS

Swizzle = Annotated[Literal["none", 32, 64, 128], WHOLE]
PipelineName = Literal[
    "AsyncAsync", "TmaAsync", "TmaUmma", "UmmaAsync", "AsyncUmma", "UmmaUmma", "AsyncStore", "ClcFetchAsync"
]


class BufferModel(Model):
    """One buffer of a resource."""

    dtype: DType
    """The type of an element."""
    shape: tuple[Expression, ...]
    """Extents, build-time expressions; the last one is contiguous."""
    swizzle: Swizzle | None = None
    """How rows are permuted against bank conflicts; derived if left out."""
    align: Expression | None = None
    """Alignment in bytes, a power of two; derived if left out."""


class Expect(Model):
    """Derived figures that the author wants pinned."""

    tx_bytes: Expression | None = None
    """Bytes that a stage's full barrier counts."""
    full_arrivals: Expression | None = None
    """Arrivals that make a stage full."""
    empty_arrivals: Expression | None = None
    """Arrivals that make a stage empty."""
    bytes: Expression | None = None
    """Bytes of all stages of one copy."""


class SignalExpect(Model):
    """Derived figures of a ring without storage."""

    full_arrivals: Expression | None = None
    """Arrivals that make a stage full."""
    empty_arrivals: Expression | None = None
    """Arrivals that make a stage empty."""


Lanes = Annotated[Integer, Field(ge=1)]


class Interleave(Model):
    """How many lanes walk a ring together on each side."""

    producer: Lanes = 1
    """Lanes that fill it."""
    consumer: Lanes = 1
    """Lanes that read it."""


class Over(Model):
    """A place on another resource's bytes."""

    of: Operand
    """The resource (or its copy) whose bytes are shared."""
    stage: Expression | None = None
    """One stage of it; all of it if left out."""


class MemoryModel(Model):
    """What shared and tensor memory have in common."""

    dtype: DType | None = None
    """The type of an element, for a resource of one buffer."""
    shape: tuple[Expression, ...] | None = None
    """Extents, for a resource of one buffer."""
    buffers: dict[Name, BufferModel] | None = None
    """Several buffers, by name."""
    stages: Expression | None = None
    """Makes it a ring of so many stages."""
    released_by: Literal["all", "one"] = "all"
    """Whether every consuming task gives every stage back, or exactly one of them."""
    per: Name | None = None
    """One copy for each replica of this task."""
    over: Annotated[Annotated[Operand, Scalar] | Annotated[Over, Mapping], BY_FORM] | None = None
    """Lies on the bytes of another resource."""
    pipeline: PipelineName | None = None
    """The type of pipeline, compared with the derived one."""
    interleave: Annotated[Annotated[Lanes, Scalar] | Annotated[Interleave, Mapping], BY_FORM] | None = None
    """Lanes that walk the ring together."""
    expect: Expect | None = None
    """Figures compared with the derived ones."""


class Smem(MemoryModel):
    """Shared memory; with `stages` a ring."""

    kind: Literal["smem"]
    swizzle: Swizzle | None = None
    """How rows are permuted against bank conflicts; derived if left out."""
    align: Expression | None = None
    """Alignment in bytes, a power of two; derived if left out."""


class Tmem(MemoryModel):
    """Tensor memory (sm_100a); the last dimension counts columns."""

    kind: Literal["tmem"]


class Registers(Model):
    """Values of a task, each task and replica its own."""

    kind: Literal["registers"]
    dtype: DType
    """The type of a value."""
    shape: tuple[Expression, ...] | None = None
    """A fragment: a tile spread over the task's threads."""
    per_thread: Expression | None = None
    """So many private values a thread."""
    rows_of: Name | None = None
    """One value for each row of this fragment that the thread holds."""
    split: Literal["rows", "columns"] = "rows"
    """What the warpgroups of a task share out among them."""


class Signal(Model):
    """A ring without storage."""

    kind: Literal["signal"]
    stages: Expression = parse(1)
    """How many stages; 1 if left out."""
    released_by: Literal["all", "one"] = "all"
    """Whether every consuming task gives every stage back, or exactly one of them."""
    per: Name | None = None
    """One copy for each replica of this task."""
    expect: SignalExpect | None = None
    """Figures compared with the derived ones."""


class Merge(Model):
    """Rings read by one task that gives them back together: one empty barrier."""

    kind: Literal["merge"]
    of: tuple[Name, ...]
    """The rings."""


class Fork(Model):
    """Rings filled by one task that hands them over together: one full barrier."""

    kind: Literal["fork"]
    of: tuple[Name, ...]
    """The rings."""


def _kind(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) else None


BY_KIND = Discriminator(_kind, custom_error_type="tsc_kind", custom_error_message="no known kind")

if TYPE_CHECKING:
    Order = Model
else:
    Order = Annotated[reduce(or_, [Annotated[it.model, Tag(it.kind)] for it in ORDERS]), BY_KIND]
"""In which order tiles are taken, chosen by its kind."""


class Queue(Model):
    """The tiles."""

    kind: Literal["queue"]
    policy: Literal["grid", "static", "atomic", "clc"]
    """How tiles reach CTAs: one each, by stride, from a counter, from the hardware."""
    axes: dict[Name, Expression]
    """Coordinate to extent, in tiles of one CTA."""
    order: Order = LinearOrder.model_construct(kind="linear")
    """In which order the tiles are taken."""
    skip_if: Expression | None = None
    """A tile for which it holds is seen by no task."""
    stages: Expression | None = None
    """Answers in flight under `atomic` and `clc`; 2 if left out."""


class Turn(Model):
    """Strict alternation of tasks."""

    kind: Literal["turn"]
    order: tuple[Operand, ...] | None = None
    """The participants in their order; by their place in the file if left out."""
    per: Name | None = None
    """One for each replica of this task."""


class Barrier(Model):
    """A named barrier."""

    kind: Literal["barrier"]
    per: Name | None = None
    """One for each replica of this task."""


KINDS = ("smem", "tmem", "registers", "signal", "merge", "fork", "queue", "turn", "barrier")

Resource = Annotated[
    Annotated[Smem, Tag("smem")]
    | Annotated[Tmem, Tag("tmem")]
    | Annotated[Registers, Tag("registers")]
    | Annotated[Signal, Tag("signal")]
    | Annotated[Merge, Tag("merge")]
    | Annotated[Fork, Tag("fork")]
    | Annotated[Queue, Tag("queue")]
    | Annotated[Turn, Tag("turn")]
    | Annotated[Barrier, Tag("barrier")],
    BY_KIND,
]
