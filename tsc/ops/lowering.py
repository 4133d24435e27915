"""What an operation's `bind` may ask about the step it stands in; the generator answers.

`bind` returns the fields of the operation's template. What it cannot lower it refuses, and the refusal
becomes a
diagnostic at the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, Protocol

from tsc.expr import Expr, Interval
from tsc.model import Reference
from tsc.ops.base import Cache


class Refused(Exception):
    """The generator cannot lower this; the message is the sentence of the diagnostic."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class TensorOperand:
    """A tensor in global memory; `view` is the C++ name of its view, empty where only its map is used."""

    name: str
    dtype: str
    bits: int
    shape: tuple[Expr, ...]
    order: tuple[int, ...]
    packed: bool
    padded: bool
    workspace: bool

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def major(self) -> int:
        """The contiguous dimension."""
        return self.order[-1]


@dataclass(frozen=True, slots=True)
class BufferOperand:
    """A buffer in shared memory at its current stage: `address` and `view` are C++ expressions.

    `shape` is as the buffer lies in memory; `transposed` exchanges the last two dimensions of the operand.
    """

    text: str
    dtype: str
    bits: int
    shape: tuple[int, ...]
    swizzle: int
    transposed: bool
    address: str
    view: str

    @property
    def bytes(self) -> int:
        """Bytes of the whole buffer."""
        bits = self.bits
        for extent in self.shape:
            bits *= extent
        return -(-bits // 8)


@dataclass(frozen=True, slots=True)
class TensorMemoryOperand:
    """A buffer in tensor memory at its current stage: `columns` wide, and `address` the C++ of its first
    column in lane 0.
    """

    text: str
    dtype: str
    bits: int
    shape: tuple[int, ...]
    columns: int
    address: str


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """Private values of a thread."""

    name: str
    dtype: str
    bits: int
    count: int


@dataclass(frozen=True, slots=True)
class FragmentOperand:
    """A tile in the registers of a task's warpgroups. `rows` and `columns` are one warpgroup's share of
    `shape`; `first` is the C++ of the row (of the column, where `split` says so) at which it begins.
    """

    name: str
    dtype: str
    bits: int
    shape: tuple[int, int]
    split: str
    warpgroups: int
    rows: int
    columns: int
    group: str  # C++ of the warpgroup's number in the task
    first: str
    lanes: bool = False  # whether each thread has a row of its own, as in tensor memory


@dataclass(frozen=True, slots=True)
class Multicast:
    """CTAs along a cluster axis: their number, this CTA's place among them, and the mask of all of them."""

    size: int
    rank: str
    mask: str


@dataclass(frozen=True, slots=True)
class MapKey:
    """What tells tensor maps apart; `box` in the tensor's own order of dimensions."""

    tensor: str
    box: tuple[int, ...]
    swizzle: int
    l2: int
    fill: str


class Lowering(Protocol):
    """A step's surroundings as an operation sees them."""

    def refuse(self, sentence: str) -> NoReturn:
        """Give up on the step; the sentence says what is not generated yet."""
        ...

    def tensor(self, reference: Reference) -> TensorOperand:
        """Look a tensor operand up."""
        ...

    def tensor_view(self, reference: Reference) -> str:
        """Return the C++ name of a tensor's view."""
        ...

    def buffer(self, reference: Reference, mode: Literal["read", "write"]) -> BufferOperand:
        """Look a shared-memory operand up, at the stage that a reader or a writer means."""
        ...

    def is_buffer(self, reference: Reference) -> bool:
        """Whether the operand lies in shared memory."""
        ...

    def tensor_memory(self, reference: Reference, mode: Literal["read", "write"]) -> TensorMemoryOperand:
        """Look an operand in tensor memory up, at the stage that a reader or a writer means."""
        ...

    def in_tensor_memory(self, reference: Reference) -> bool:
        """Whether the operand lies in tensor memory."""
        ...

    def in_ring(self, reference: Reference) -> bool:
        """Whether the operand is a stage of a ring, whose barriers say when copies are complete."""
        ...

    def registers(self, reference: Reference) -> RegisterOperand:
        """Look registers up; fragments are refused."""
        ...

    def is_fragment(self, reference: Reference) -> bool:
        """Whether the operand is a fragment."""
        ...

    def fragment(self, reference: Reference) -> FragmentOperand:
        """Look a fragment up; refuses other registers, and what cannot be shared out among warpgroups."""
        ...

    def matrix(self, buffer: BufferOperand, reference: Reference, first: str, atom: int) -> str:
        """Return the C++ of the wgmma descriptor of a buffer at its current stage, `first` bytes further on;
        `atom` is the distance of column atoms where the matrix is MN-major, else 0.
        """
        ...

    def matrix_words(self, buffer: BufferOperand, reference: Reference, low: int) -> str:
        """Return the C++ of the lower word of the tcgen05 descriptor of a buffer at its current stage; `low`
        is that word at address 0.
        """
        ...

    def device(self, wanted: str, text: Callable[[str], str]) -> str:
        """Put a device function into the file, once, and return its name; `text` gets the name."""
        ...

    def completed(self) -> tuple[str, ...]:
        """Return the C++ names of fragments on which no product can still be at work behind this step."""
        ...

    def barrier(self, reference: Reference) -> str:
        """Return the C++ address of the full barrier of the stage that is being filled."""
        ...

    def multicast(self, axis: str) -> Multicast:
        """Look a cluster axis up."""
        ...

    def for_pair(self, reference: Reference) -> bool:
        """Whether the tensor cores of a pair of CTAs read the ring of an operand, so that its leader's
        barriers count what both fill.
        """
        ...

    @property
    def group(self) -> int:
        """CTAs whose tensor cores work together: 2 in pairs, else 1."""
        ...

    def peer(self, axis: str, place: Expr) -> str:
        """Return the C++ of the rank in the cluster of the CTA at a place along an axis."""
        ...

    def tensor_map(self, key: MapKey) -> str:
        """Return the C++ name of a tensor map."""
        ...

    def need(self, tensor: str, align: int, stride_bytes: int) -> None:
        """Ask the loader for a base address and strides that are multiples of so many bytes."""
        ...

    def need_multiple(self, expr: Expr, factor: int, what: str) -> bool:
        """Make sure that a value is a multiple, at build or by an assertion of the loader; whether it can
        be.
        """
        ...

    def need_whole_rows(self, tensor: str, size: int, what: str) -> bool:
        """Make sure that a tensor's rows end at a multiple of so many bytes from where they begin, at build
        or by an assertion of the loader, which says `what`; whether it can be.
        """
        ...

    def need_bound(self, condition: Expr, what: str) -> bool:
        """Make sure that a condition holds, by an upper bound of a dim that the loader asserts; whether one
        settles it.
        """
        ...

    def coordinates(self, at: Sequence[Expr] | None, rank: int) -> tuple[Expr, ...]:
        """Return the coordinates, zeros where they are left out."""
        ...

    def text(self, expr: Expr) -> str:
        """Return the C++ of an expression."""
        ...

    def wide(self, expr: Expr) -> str:
        """Return the C++ of an expression as an `i64`."""
        ...

    def named(self, type_: str, hint: str, text: str) -> str:
        """Put `const type name = text;` before the step and return the name."""
        ...

    def local(self, hint: str) -> str:
        """Return a name that nothing around has."""
        ...

    def constant(self, expr: Expr) -> int:
        """Return a build-time value."""
        ...

    def build_text(self, expr: Expr) -> str:
        """Return the C++ of a build-time value, by its names where they have one."""
        ...

    def interval(self, expr: Expr) -> Interval:
        """Return the bounds of an expression where the step stands."""
        ...

    def multiple(self, expr: Expr) -> int:
        """Return a divisor of an expression's value, as large as can be shown."""
        ...

    def proves(self, condition: Expr) -> bool:
        """Whether a condition surely holds where the step stands."""
        ...

    def flat(self, expr: Expr) -> Expr:
        """Return an expression without lets and build-time names."""
        ...

    def facts(self) -> tuple[Expr, ...]:
        """Return conditions that hold where the step stands, without lets and build-time names."""
        ...

    def note(self, text: str) -> None:
        """Put a comment before the step."""
        ...

    def fault(self, rule: str, sentence: str, help: str = "") -> None:
        """Report what the hardware does not do as it is written, by a rule's name; `help` says the edit."""
        ...

    def reads_memory(self, expr: Expr) -> bool:
        """Whether a value comes from the elements of a tensor."""
        ...

    def cache(self, cache: Cache, reads: str | None = None) -> str:
        """Return the C++ of a cache hint; with `reads`, that of loads from this tensor."""
        ...

    @property
    def stores(self) -> bool:
        """Whether bulk or TMA stores of the task write to tensors."""
        ...

    @property
    def loads_written(self) -> bool:
        """Whether bulk or TMA copies read a tensor that the kernel writes."""
        ...

    @property
    def task(self) -> str:
        """The C++ name of the task's threads."""
        ...
