"""Flat code: the machine's instructions with what they need looked up, and jumps in place of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from tsc.prove.layout import Spread
from tsc.prove.machine import Bound, Test
from tsc.source.route import Route


@dataclass(slots=True)
class Op:
    """One instruction of flat code, or one of the jumps between them; `to` is where a jump goes."""

    route: Route


@dataclass(slots=True)
class WaitOp(Op):
    """See `machine.Wait`."""

    barrier: int
    cursor: int
    lag: int
    moves: bool
    clears: tuple[int, ...]  # bits, a stage each


@dataclass(slots=True)
class ArriveOp(Op):
    """See `machine.Arrive`; `columns` are those of the arrival, a barrier each."""

    barriers: tuple[int, ...]
    columns: tuple[int, ...]
    cursor: int
    weight: int
    upto: int | None
    keep: int
    engine: int | None


@dataclass(slots=True)
class MoveOp(Op):
    """See `machine.Move`."""

    cursors: tuple[int, ...]


@dataclass(slots=True)
class Part:
    """One item of an access: what it has to know and what it leaves, by the stage."""

    cursor: int | None
    back: int
    spreads: tuple[Spread, ...]


@dataclass(slots=True)
class TouchOp(Op):
    """See `machine.Touch`."""

    parts: tuple[Part, ...]
    engine: int | None


@dataclass(slots=True)
class LoadOp(Op):
    """See `machine.Load`: barrier, column of the arrival, the bytes and the weight, a target each."""

    targets: tuple[tuple[int, int, Part, int], ...]


@dataclass(slots=True)
class DrainOp(Op):
    """See `machine.Drain`."""

    engine: int
    keep: int


@dataclass(slots=True)
class FenceOp(Op):
    """See `machine.Fence`."""

    tensors: bool


@dataclass(slots=True)
class EnterOp(Op):
    """Begins a loop at nesting `level`; 0 is the loop over the tiles.

    `occurrence`: which it is among the agent's loops of its number.
    """

    level: int
    bound: Bound
    start: int
    occurrence: int


@dataclass(slots=True)
class TestOp(Op):
    """Goes into the next round, or to `to`."""

    level: int
    bound: Bound
    occurrence: int
    to: int = 0


@dataclass(slots=True)
class NextOp(Op):
    """Ends a round and goes back to `to`; rounds are counted up to `cap`, then modulo `period`."""

    level: int
    step: int
    cap: int
    period: int
    to: int


@dataclass(slots=True)
class IfOp(Op):
    """Goes on if the test holds, else to `to`; `level` is that of the innermost loop around, -1 outside."""

    test: Test
    level: int
    to: int = 0


@dataclass(slots=True)
class JumpOp(Op):
    """Goes to `to`."""

    to: int = 0


@dataclass(slots=True)
class EndOp(Op):
    """The agent is done."""
