"""What the generator prints, as plain data: strings, numbers and nested statements. Templates turn it into
CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tsc.source.route import Route


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment line, such as the text of the step that follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A macro of `statements.cu.j2` with its arguments."""

    macro: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Instruction:
    """An operation's own template with its fields."""

    template: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compound:
    """A head (a macro: a loop or a condition) with a block below it and perhaps another for `else`."""

    macro: str
    fields: Mapping[str, Any]
    body: Sequence[Item]
    otherwise: Sequence[Item] = ()


Item = Comment | Statement | Instruction | Compound


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the kernel and, passed on under the same name, of the functions that need it.

    `argument` is its entry in the manifest.
    """

    type: str
    name: str
    argument: Mapping[str, Any]

    @property
    def grid_constant(self) -> bool:
        """Whether the kernel takes it in place, so that its address can be passed on."""
        return bool(self.argument["kind"] == "tensor_map")

    @property
    def passed(self) -> str:
        """How a function takes it."""
        return f"const TensorMap& {self.name}" if self.grid_constant else f"{self.type} {self.name}"

    @property
    def declared(self) -> str:
        """How the kernel takes it."""
        return (
            f"const __grid_constant__ TensorMap {self.name}"
            if self.grid_constant
            else f"{self.type} {self.name}"
        )


@dataclass(frozen=True, slots=True)
class Constant:
    """A name that is known when built, `value` as C++."""

    type: str
    name: str
    value: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SnippetFunction:
    """A work as a device function: head, and the snippet's own lines with their place in the spec."""

    name: str
    template: str
    parameters: tuple[str, ...]
    structs: tuple[str, ...]
    constants: tuple[str, ...]
    text: str
    source: str
    lines: tuple[int, ...]  # of each line of the text in the source; empty where that is not known


@dataclass(frozen=True, slots=True)
class TaskFunction:
    """A task as a device function."""

    name: str
    heading: str
    comment: str
    template: str
    parameters: tuple[str, ...]
    declarations: tuple[Item, ...]
    body: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Barriers:
    """Mbarriers in a row to be initialised alike.

    `apart` is the C++ of their arrivals where they depend on the CTA's `rank`; `arrivals` is then the most.
    """

    name: str
    constant: str
    offset: int
    count: int
    arrivals: int
    apart: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """A place in shared memory, for the table and the manifest; `over` says on whose bytes it lies."""

    name: str
    offset: int
    bytes: int
    stages: int
    note: str
    over: str = ""


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """What a CTA takes of tensor memory: columns needed and allocated, the constant that names the slot in
    shared memory for its address, the warp that allocates and frees, and what lies in which columns.

    `group` is 2 where that warp of both CTAs of a pair does so together.
    """

    columns: int
    allocated: int
    slot: str
    warp: int
    regions: tuple[Region, ...]
    constants: tuple[Constant, ...] = ()
    group: int = 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the generator cannot lower, at its place, and the rule that says so.

    `help` says the edit, where there is a better one than the rule's own.
    """

    route: Route
    sentence: str
    rule: str = "not-generated"
    help: str = ""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """An argument of a work whose type does not hold every value of the expression given for it."""

    route: Route
    work: str
    argument: str
    type: str
    text: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """A whole kernel, ready to be printed."""

    kernel: str
    spec: str
    version: str
    arch: str
    namespace: str
    includes: tuple[str, ...]
    watchdog_ns: int | None
    constants: tuple[Constant, ...]
    regions: tuple[Region, ...]
    layout: tuple[Constant, ...]
    tensor: TensorMemory | None
    tile: Mapping[str, Any] | None
    devices: tuple[str, ...]  # functions of operations, whose text depends on shapes
    snippets: tuple[SnippetFunction, ...]
    tasks: tuple[TaskFunction, ...]
    parameters: tuple[Parameter, ...]
    maps: tuple[str, ...]
    barriers: tuple[Barriers, ...]
    roles: tuple[Item, ...]
    cluster: tuple[int, int, int]
    threads: int
    ctas_per_sm: int
    shared_used: bool
    remote: bool
    parted: bool  # whether CTAs of a cluster meet before they end
    sanitize: bool
    warp_used: bool
    manifest: Mapping[str, Any]
    refusals: tuple[Refusal, ...]
    narrowed: tuple[Narrowed, ...]


@dataclass(slots=True)
class Prelude:
    """What a task's function declares before its schedule, by kind and in the order of first use."""

    builtins: dict[str, Item] = field(default_factory=dict)
    views: dict[str, Item] = field(default_factory=dict)
    lets: dict[str, Item] = field(default_factory=dict)
    registers: dict[str, Item] = field(default_factory=dict)
    bases: dict[str, Item] = field(default_factory=dict)
    states: dict[str, Item] = field(default_factory=dict)
    tokens: dict[str, Item] = field(default_factory=dict)

    def items(self) -> list[Item]:
        """Return all of it in order."""
        kinds = (self.builtins, self.views, self.lets, self.registers, self.bases, self.states, self.tokens)
        return [item for kind in kinds for item in kind.values()]
