"""What `merge` copies, in NumPy."""

from __future__ import annotations

from typing import Any


def reference(a: Any, b: Any, y: Any) -> dict[str, Any]:
    """Return `a` on top of `b`."""
    stacked = y.copy()
    stacked[0], stacked[1] = a, b
    return {"y": stacked}
