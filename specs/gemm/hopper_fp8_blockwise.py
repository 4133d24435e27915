"""What `hopper_fp8_blockwise` computes, in NumPy."""

from __future__ import annotations

from typing import Any

BLOCK = 128


def reference(a: Any, b: Any, scale_a: Any, scale_b: Any, **_: Any) -> dict[str, Any]:
    """Return `d`: the product of `a` and `b` with each block of 128 along k times its scales."""
    k = a.shape[1]
    of_a = scale_a.T.repeat(BLOCK, axis=1)[:, :k]
    of_b = scale_b.repeat(BLOCK, axis=0)[: b.shape[0]].repeat(BLOCK, axis=1)[:, :k]
    return {"d": (a * of_a) @ (b * of_b).T}
