"""The whole document: one kernel (LANGUAGE section 2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tsc.model import (
    BY_FORM,
    WHOLE,
    Constant,
    Expression,
    Flag,
    Integer,
    ListOf,
    Model,
    Name,
    Number,
    Real,
    Scalar,
    Text,
)
from tsc.spec.arguments import Dim, Launch, Param, Workspace
from tsc.spec.resources import Resource
from tsc.spec.tasks import Task, Work


class KernelExpect(Model):
    """Derived figures of the kernel that the author wants pinned."""

    smem_bytes: Expression | None = None
    """Shared memory, barriers and padding included."""
    tmem_columns: Expression | None = None
    """Columns of tensor memory."""
    threads: Expression | None = None
    """Threads a CTA."""


class VerifyInput(Model):
    """How an input is made."""

    lengths: tuple[Integer, ...] | None = None
    """The running sum of these, beginning with zero."""
    range: tuple[Real, ...] | None = Field(default=None, min_length=2, max_length=2)
    """Uniform between two bounds."""
    zeros: Flag | None = None
    """All zeros."""


Tolerated = Annotated[Real, Field(ge=0)]


class Tolerance(Model):
    """How far a result may be from the reference."""

    rtol: Tolerated | None = None
    """Relative."""
    atol: Tolerated | None = None
    """Absolute."""


class Verify(Model):
    """What the kernel is compared with."""

    reference: dict[Name, Text] = Field(default_factory=dict)
    """Output to an expression in array notation."""
    python: Text | None = None
    """`file.py:function` in place of a reference."""
    cases: tuple[dict[Name, Number], ...] = ()
    """A value for every dim and scalar param, a case."""
    inputs: dict[Name, VerifyInput] = Field(default_factory=dict)
    """How inputs are made; normally distributed if left out."""
    tolerance: Tolerance | None = None
    """How far a result may be off; by dtype if left out."""


class Tune(Model):
    """The space that `tsc tune` searches."""

    try_: dict[str, tuple[Any, ...]] = Field(default_factory=dict, alias="try")
    """Constant or route to the values that are tried there."""
    where: tuple[Expression, ...] = ()
    """What a point must meet."""
    cases: tuple[dict[Name, Number], ...] = ()
    """What is measured."""


class Debug(Model):
    """Instruments that production code does not have."""

    wait_timeout_ms: Integer | None = Field(default=None, ge=1)
    """A wait that takes longer traps."""
    trace: tuple[Literal["acquire", "wait", "work"], ...] = ()
    """Which steps leave a time stamp."""
    count_tiles: Flag = False
    """Counts the tiles that each CTA had."""


Targets = Annotated[tuple[Text, ...], Field(min_length=1)]


class Spec(Model):
    """A kernel."""

    tsc: Annotated[Literal[1], WHOLE]
    """Version of the language."""
    kernel: Name
    """Name of the entry point."""
    target: Annotated[Annotated[Text, Scalar] | Annotated[Targets, ListOf], BY_FORM]
    """Architecture, such as `sm_90a`."""
    include: tuple[Text, ...] = ()
    """CUDA headers for snippets, relative to the spec."""
    constants: dict[Name, Constant] = Field(default_factory=dict)
    """Known when built; `-D NAME=VALUE` changes them."""
    params: dict[Name, Param] = Field(default_factory=dict)
    """Run-time arguments, in this order."""
    workspace: dict[Name, Workspace] = Field(default_factory=dict)
    """Tensors that the loader makes and passes after the params."""
    dims: dict[Name, Dim] = Field(default_factory=dict)
    """Promises about run-time sizes."""
    let: dict[Name, Expression] = Field(default_factory=dict)
    """Named expressions."""
    launch: Launch = Launch.model_construct()
    """Grid, cluster, occupancy."""
    resources: dict[Name, Resource]
    """All storage and synchronisation."""
    work: dict[Name, Work] = Field(default_factory=dict)
    """Snippets."""
    tasks: dict[Name, Task]
    """Warps and schedules."""
    graph: dict[Name, tuple[Name, ...]] | None = None
    """What each resource is made from; compared with the derived graph."""
    assert_: tuple[Expression, ...] = Field(default=(), alias="assert")
    """Facts that the spec relies on, checked at build or by the loader."""
    expect: KernelExpect | None = None
    """Figures compared with the derived ones."""
    verify: Verify | None = None
    """What the kernel is compared with."""
    tune: Tune | None = None
    """The space that is searched."""
    debug: Debug | None = None
    """Instruments."""
