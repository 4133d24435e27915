"""Which CTAs issue a load that several receive: each its part, or the first of them all of it."""

from __future__ import annotations

from tsc.ops.pieces import UNIT


def led(model: object, size: int | None, ctas: int) -> bool:
    """Whether the first of `ctas` CTAs along the axis loads everything for all of them.

    `model` is the load's step, `size` its bytes, absent where only the run knows them.
    """
    if getattr(model, "share", None) == "leader":
        return True
    return getattr(model, "verb", "") == "bulk_load" and (size is None or size % (UNIT * ctas) != 0)
