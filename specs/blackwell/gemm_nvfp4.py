"""What `gemm_nvfp4` computes, in NumPy."""

from __future__ import annotations

from typing import Any

BLOCK = 16  # values of k to a scale factor
LANES = 32


def factors(scales: Any, rows: int, k: int) -> Any:
    """Return the scale factor of each value of `rows` rows of `k`, from blocks of 128 rows by 4 factors.

    Factor s of row r is byte `r % 32 * 16 + r // 32 * 4 + s` of a block.
    """
    above, deep = scales.shape[:2]
    blocks = scales.reshape(above, deep, LANES, 4, 4).transpose(0, 3, 2, 1, 4)
    return blocks.reshape(above * 128, deep * 4)[:rows].repeat(BLOCK, axis=1)[:, :k]


def reference(a: Any, b: Any, scale_a: Any, scale_b: Any, alpha: float, **_: Any) -> dict[str, Any]:
    """Return `d`: alpha times the product of `a` and `b`, each value times the factor of its block."""
    k = a.shape[1]
    left = a * factors(scale_a, a.shape[0], k)
    right = b * factors(scale_b, b.shape[0], k)
    return {"d": alpha * (left @ right.T)}
