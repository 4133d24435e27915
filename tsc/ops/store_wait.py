"""`store_wait`: wait until at most so many stores of this task are pending."""

from __future__ import annotations

from typing import ClassVar, Literal

from tsc.model import Expression
from tsc.ops.base import Operation, StepModel


class StoreWait(StepModel):
    """Wait for bulk and TMA stores, the oldest first."""

    verb: ClassVar[str] = "store_wait"

    store_wait: Expression
    """How many of the youngest stores may still be pending (a build-time value)."""
    until: Literal["read", "written"] = "read"
    """Until their shared memory has been read, or until they are written and visible."""


OP = Operation(model=StoreWait, issuer="one")
