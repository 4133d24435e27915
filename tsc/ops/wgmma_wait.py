"""`wgmma_wait`: wait until at most so many wgmma groups of this warpgroup run."""

from __future__ import annotations

from typing import ClassVar

from tsc.model import Expression
from tsc.ops.base import Operation, StepModel


class WgmmaWait(StepModel):
    """Wait for groups of `wgmma`, the oldest first."""

    verb: ClassVar[str] = "wgmma_wait"

    wgmma_wait: Expression
    """How many of the youngest groups may still run (a build-time value)."""


OP = Operation(model=WgmmaWait)
