"""Tasks and the works they do (LANGUAGE sections 8 and 11)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tsc.model import Expression, Flag, Model, Name, Operand, Text
from tsc.spec.schedule import Schedule

ArgType = Literal["const", "i32", "u32", "i64", "f32", "bool"]
TokenType = Literal["i32", "u32", "i64", "f32", "bool"]


class Work(Model):
    """A snippet of CUDA, and all that exists for it."""

    args: dict[Name, ArgType] = Field(default_factory=dict)
    """Arguments in order; `const` becomes a template argument."""
    returns: dict[Name, TokenType] = Field(default_factory=dict)
    """Values handed on as tokens, in order."""
    aux: Flag = False
    """Bookkeeping that touches no payload: it may stand outside any bracket."""
    reads: tuple[Operand, ...] = ()
    """Memory and registers it may read."""
    writes: tuple[Operand, ...] = ()
    """Memory and registers it may write."""
    updates: tuple[Operand, ...] = ()
    """Memory and registers it may read and write."""
    cuda: Text | None = None
    """The snippet."""
    file: Text | None = None
    """The snippet's file, relative to the spec."""


class Task(Model):
    """Warps that run one schedule."""

    warps: Expression
    """How many warps, a build-time value."""
    replicas: Expression | None = None
    """So many tasks with the same schedule; 1 if left out."""
    registers: Expression | None = None
    """Registers a thread, set by setmaxnreg: 24 to 256 in steps of 8."""
    first_warp: Expression | None = None
    """The first of its warps; derived if left out."""
    ctas: Literal["all", "leader"] | None = None
    """`leader`: runs in the even CTA of a pair only."""
    schedule: Schedule
    """What it does, in order."""
    reads: tuple[Operand, ...] | None = None
    """The resources it reads; derived, compared if written."""
    writes: tuple[Operand, ...] | None = None
    """The resources it writes; derived, compared if written."""
