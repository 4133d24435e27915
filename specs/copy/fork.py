"""What `fork` copies, in NumPy."""

from __future__ import annotations

from typing import Any


def reference(x: Any, y: Any, z: Any) -> dict[str, Any]:
    """Return the two halves of `x`."""
    return {"y": x[0], "z": x[1]}
