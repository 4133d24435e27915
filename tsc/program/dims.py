"""Run-time sizes: what binds them and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

from tsc.expr import Interval
from tsc.source.route import Route

INT32 = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dim:
    """A run-time size: the params that bind it and what is promised about it.

    `interval` holds at every launch. Where a tensor `empties` with it, nothing is launched at 0, unless
    `min: 0` is written: the kernel then `runs_at_zero`. Calls with less than `least` are refused.
    """

    name: str
    interval: Interval
    multiple_of: int
    uses: tuple[Route, ...]
    least: int = 0
    empties: bool = False
    runs_at_zero: bool = False

    @property
    def unpromised(self) -> Interval:
        """What holds at every launch whatever `dims` promises."""
        return Interval(int(self.empties and not self.runs_at_zero), INT32)
