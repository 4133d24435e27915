"""The resolved program: every fact that a rule, the proof, the generator or a report asks about a kernel.

Plain frozen data. Where a fact could not be derived because the spec is at fault, it is `None` or absent,
and a rule says why; nothing here raises for a wrong spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tsc.expr import Expr, Interval
from tsc.model import Reference
from tsc.program.dims import Dim
from tsc.program.multicast import Shared
from tsc.program.scope import Failure, Site, Stage
from tsc.program.target import Target
from tsc.program.tree import Block, Step
from tsc.source.route import Route
from tsc.spec.document import Spec

if TYPE_CHECKING:
    from tsc.program.accesses import Meanings, Touch
    from tsc.program.values import Values


DYNAMIC = frozenset(("atomic", "clc"))
"""Policies under which tiles are asked for one by one."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor param or workspace.

    `shape` has lets and constants folded; `order` lists dimensions from the slowest to the contiguous one.
    """

    name: str
    route: Route
    dtype: str
    shape: tuple[Expr, ...]
    order: tuple[int, ...]
    packed: bool
    constant: bool
    workspace: bool
    zero: str = "never"
    padded: bool = False

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar param."""

    name: str
    route: Route
    dtype: str


@dataclass(frozen=True, slots=True)
class Buffer:
    """One buffer of a memory resource; `offset` is inside a stage, in bytes (columns for tensor memory)."""

    name: str
    route: Route
    dtype: str
    shape: tuple[int, ...]
    bits: int  # an element
    swizzle: int  # 0, 32, 64 or 128
    align: int
    bytes: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class RingUse:
    """What one task instance does with one ring (copy `copy`)."""

    task: str  # the instance's label
    ring: str
    copy: int
    acquires: bool
    commits: bool
    waits: bool
    releases: bool
    observes: bool  # waits only with `observe`
    skips: bool
    engine_reads: frozenset[str]  # engines by which it reads payload: thread, store, wgmma, tcgen05
    engine_writes: frozenset[str]  # engines by which it fills: thread, tma, cp_async, tcgen05, wgmma

    @property
    def produces(self) -> bool:
        """Whether it fills the ring."""
        return self.acquires or self.commits

    @property
    def consumes(self) -> bool:
        """Whether it owes releases."""
        return self.releases or self.skips


@dataclass(frozen=True, slots=True)
class Memory:
    """A resource of kind smem or tmem, or a signal (which has no buffers).

    `stages` is `None` for plain memory; `offset` the first byte of copy 0 (columns for tensor memory);
    copies begin `copy_bytes` apart, stages `stage_bytes` (`tsc.program.spans` has the bytes of each).
    """

    name: str
    route: Route
    kind: Literal["smem", "tmem", "signal"]
    buffers: tuple[Buffer, ...]
    stages: int | None
    copies: int
    per: str | None
    released_by: Literal["all", "one"]
    lanes: tuple[int, int]  # producer, consumer
    over: Reference | None
    over_stage: int | None  # all of it if absent
    stage_bytes: int
    copy_bytes: int
    align: int
    offset: int | None = None
    group: str | None = None  # the merge or fork it is a member of
    over_copy: int = 0  # the copy of `over` on whose bytes copy 0 lies

    @property
    def ring(self) -> bool:
        """Whether it has stages."""
        return self.stages is not None

    def buffer(self, name: str | None) -> Buffer | None:
        """Return a buffer by name; without a name the only one."""
        if name is None:
            return self.buffers[0] if len(self.buffers) == 1 else None
        return next((buffer for buffer in self.buffers if buffer.name == name), None)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """How one copy of a ring is synchronised, as derived (LANGUAGE section 12).

    `kind` is `AsyncStore` for a store ring, which has no barrier but where it is `loaded`. `tx_bytes` is
    `None` where it is only known at run time. Offsets are of stage 0's barriers in shared memory; members of
    a group share one of the two. `empty_arrivals` is that of the first CTA of a cluster: where loads are
    shared it depends on which CTAs the loads of one reach (`tsc.program.multicast`), each of which has
    `readers` arrivals.
    """

    ring: str
    copy: int
    kind: str
    stages: int
    full_arrivals: int
    empty_arrivals: int
    tx_bytes: int | None
    producers: tuple[str, ...]  # labels of task instances
    consumers: tuple[str, ...]
    observers: tuple[str, ...]
    multicast: tuple[str, ...] = ()  # cluster axes along which its loads are shared
    shared: tuple[Shared, ...] = ()
    readers: int = 0
    full_offset: int | None = None
    empty_offset: int | None = None
    loaded: bool = False  # a store ring that TMA or bulk loads fill: it has full barriers

    @property
    def store_ring(self) -> bool:
        """Whether a store engine in the committing task is the only reader."""
        return self.kind == "AsyncStore"


@dataclass(frozen=True, slots=True)
class RegisterSet:
    """Values of a task: a fragment, or so many private values a thread."""

    name: str
    route: Route
    dtype: str
    shape: tuple[int, ...] | None
    per_thread: int | None
    rows_of: str | None
    split: str


@dataclass(frozen=True, slots=True)
class Group:
    """A merge or fork."""

    name: str
    route: Route
    kind: Literal["merge", "fork"]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A turn or a named barrier: its participants in order, and the barriers it needs."""

    name: str
    route: Route
    kind: Literal["turn", "barrier"]
    copy: int
    participants: tuple[str, ...]  # labels of task instances
    offset: int | None = None  # turn: shared-memory offset of its mbarriers, one a participant
    barrier_id: int | None = None  # named barrier
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """The ring of a dynamic queue's answers, a number of tiles each: one task asks, all tasks take.

    In a cluster the first CTA asks and hears when an answer has been taken by all; each CTA has its own copy.
    Offsets are of stage 0 in shared memory.
    """

    kind: str
    stages: int
    scheduler: str  # label of the task that asks
    takers: tuple[str, ...]  # labels of the tasks that take every answer and give it back
    empty_arrivals: int  # of all CTAs of a cluster
    offset: int
    full_offset: int
    empty_offset: int
    tx_bytes: int = 0  # by which the answer comes, where no thread of the CTA writes it
    full_arrivals: int = 1


@dataclass(frozen=True, slots=True)
class Queue:
    """The tiles: coordinates, extents and how they reach CTAs. `answers` under `atomic` and `clc`."""

    name: str
    route: Route
    policy: str
    axes: tuple[tuple[str, Expr], ...]
    skip_if: Expr | None
    stages: int | None
    order: Any  # the model of tsc.spec.resources
    answers: Answers | None = None

    @property
    def dynamic(self) -> bool:
        """Whether tiles are asked for one by one."""
        return self.policy in DYNAMIC


@dataclass(frozen=True, slots=True)
class Work:
    """A snippet: what it takes, gives, and may touch."""

    name: str
    route: Route
    args: tuple[tuple[str, str], ...]
    returns: tuple[tuple[str, str], ...]
    aux: bool
    reads: tuple[Reference, ...]
    writes: tuple[Reference, ...]
    updates: tuple[Reference, ...]
    text: str | None  # the CUDA, read from its file where it has one
    text_name: str  # what `#line` names
    text_route: Route


@dataclass(frozen=True, slots=True)
class Task:
    """One instance of a task; replicas are instances of their own.

    `tree` has builds expanded, split loops cut and the queue's steps added. `single` says that one elected
    thread runs the whole schedule, because nothing in it needs the others.
    """

    name: str
    label: str  # "math" or "math[1]"
    route: Route
    index: int
    replica: int | None
    replicas: int
    warps: int | None
    first_warp: int | None
    registers: int | None
    ctas: Literal["all", "leader"]
    tree: Block
    single: bool
    barrier_id: int | None = None  # named barrier of its threads, where it needs one
    derived: bool = False  # added by the toolchain: the scheduler task of a dynamic queue

    @property
    def threads(self) -> int:
        """Threads of the task."""
        return 32 * (self.warps or 0)

    def steps(self) -> Iterator[Step]:
        """Yield its steps in textual order."""
        from tsc.program.tree import steps

        return steps(self.tree)


@dataclass(frozen=True, slots=True)
class Operand:
    """What a reference in a schedule means."""

    kind: Literal[
        "tensor", "scalar", "smem", "tmem", "signal", "registers", "merge", "fork", "queue", "turn", "barrier"
    ]
    name: str
    copy: int = 0
    memory: Memory | None = None
    buffer: Buffer | None = None
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel, resolved."""

    spec: Spec
    kernel: str
    target: Target | None
    targets: tuple[str, ...]
    arch: str  # the one of `targets` that this program is for
    constants: Mapping[str, int | bool]
    lets: Mapping[str, Expr]  # let-free, constants folded
    let_stages: Mapping[str, Stage]
    dims: Mapping[str, Dim]
    tensors: Mapping[str, Tensor]
    scalars: Mapping[str, Scalar]
    params: tuple[str, ...]
    queue: Queue | None
    memories: Mapping[str, Memory]
    registers: Mapping[str, RegisterSet]
    groups: Mapping[str, Group]
    orders: Mapping[tuple[str, int], Order]
    works: Mapping[str, Work]
    includes: Mapping[str, str | None]  # headers of snippets by their paths; None where one cannot be read
    tasks: tuple[Task, ...]
    uses: tuple[RingUse, ...]
    pipelines: Mapping[tuple[str, int], Pipeline]
    graph: Mapping[str, tuple[str, ...]]  # resource -> the resources it is made from
    cluster: tuple[tuple[str, int], ...]
    grid: tuple[Expr, ...] | None
    threads: int | None
    smem_bytes: int | None
    tmem_columns: int | None
    tensor_slot: int | None  # shared-memory offset of the address of tensor memory
    sites: tuple[Site, ...]
    failures: tuple[Failure, ...]
    ranges: Mapping[str, Interval]  # of names that are not local to a task, lets of such names included
    values: Values  # puts constants and lets into expressions
    meanings: Meanings  # looks references up

    def flat(self, expr: Expr, env: Mapping[str, int | bool] | None = None) -> Expr:
        """Return an expression without lets, its constants and the names of `env` folded."""
        return self.values.flat(expr, env)

    def meaning(
        self, reference: Reference, task: Task, env: Mapping[str, int | bool], route: Route = ()
    ) -> Operand | None:
        """Return what a reference means in a task instance, with its memory and buffer, or nothing."""
        found = self.meanings.meaning(reference, task.name, task.replica, env, route)
        if found is None or found.name not in self.memories:
            return found
        memory = self.memories[found.name]
        return replace(found, memory=memory, buffer=memory.buffer(reference.buffer))

    def touches(self, step: Step, task: Task) -> Iterator[Touch]:
        """Yield the accesses of a step, those of its work included."""
        from tsc.program.accesses import touches

        return touches(step, self.meanings, self.works, task.name, task.replica)

    def task(self, label: str) -> Task:
        """Return a task instance by its label; KeyError if there is none."""
        for task in self.tasks:
            if task.label == label:
                return task
        raise KeyError(label)

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        size = 1
        for _, extent in self.cluster:
            size *= extent
        return size
