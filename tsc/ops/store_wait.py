"""`store_wait`: wait until at most so many stores of this task are pending."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from tsc.model import Expression
from tsc.ops.base import Operation, StepModel
from tsc.ops.lowering import Lowering


class StoreWait(StepModel):
    """Wait for bulk and TMA stores, the oldest first."""

    verb: ClassVar[str] = "store_wait"

    store_wait: Expression
    """How many of the youngest stores may still be pending (a build-time value)."""
    until: Literal["read", "written"] = "read"
    """Until their shared memory has been read, or until they are written and visible."""


TEMPLATE = """
bulk_wait{{ read }}<{{ pending }}>();
"""


def bind(step: StoreWait, lowering: Lowering) -> dict[str, Any]:
    """Give the count of groups; each store is a group."""
    return {"read": "_read" if step.until == "read" else "", "pending": lowering.build_text(step.store_wait)}


OP = Operation(model=StoreWait, issuer="one", template=TEMPLATE, bind=bind)
