"""What an operation is: its step's model, what it touches through which engine, and how it is emitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tsc.model import Model

if TYPE_CHECKING:
    from tsc.ops.lowering import Lowering

Mode = Literal["read", "write", "update"]
Cache = Literal["normal", "evict_first", "evict_last", "no_allocate"]


class Engine(StrEnum):
    """Who performs an access, and with that what proves it finished (LANGUAGE section 10)."""

    THREAD = "thread"  # done when the step ends
    TMA = "tma"  # done when the destination's full barrier has counted its bytes
    STORE = "store"  # done when `store_wait` says so (read or written)
    CP_ASYNC = "cp_async"  # done at the commit of its stage
    WGMMA = "wgmma"  # done when `wgmma_wait` says so
    TCGEN05 = "tcgen05"  # done when the next commit or release by the tensor core arrives
    TMEM = (
        "tmem"  # tensor memory by warps: done before first use of the registers, and before commit or release
    )
    PREFETCH = "prefetch"  # never waited for


class StepModel(Model):
    """A step: one verb and its operand, its options beside it."""

    verb: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Access:
    """One operand of an operation: the field that names it, what it may be, and how it is touched."""

    field: str
    mode: Mode
    kinds: frozenset[str]  # of: tensor, smem, tmem, registers
    engine: Engine = Engine.THREAD


def touches(field: str, mode: Mode, *kinds: str, engine: Engine = Engine.THREAD) -> Access:
    """Shorthand for an `Access`."""
    return Access(field, mode, frozenset(kinds), engine)


@dataclass(frozen=True, slots=True)
class Operation:
    """An entry of the registry.

    `issuer` is `one` where a single elected thread of the task issues the instruction, `all` where every
    thread takes part. `template` is Jinja text of CUDA, rendered with what `bind` returns; an operation
    without them is part of the language but not generated yet, which a diagnostic says at its place.
    """

    model: type[StepModel]
    accesses: tuple[Access, ...] = ()
    issuer: Literal["one", "all"] = "all"
    template: str = ""
    bind: Callable[[Any, Lowering], dict[str, Any]] | None = None

    @property
    def verb(self) -> str:
        """The key that names the operation in a step."""
        return self.model.verb

    @property
    def generated(self) -> bool:
        """Whether the generator can lower it."""
        return self.bind is not None
