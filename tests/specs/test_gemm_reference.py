"""The references of GEMMs that are written in Python, element by element."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

np: Any = pytest.importorskip("numpy")

ROOT = Path(__file__).resolve().parents[2] / "specs" / "gemm"


def test_fp8_blockwise_scales_each_block_of_128() -> None:
    found = importlib.util.spec_from_file_location("blockwise", ROOT / "hopper_fp8_blockwise.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    m, n, k = 3, 130, 272
    numbers = np.random.default_rng(1)
    a, b = numbers.standard_normal((m, k)), numbers.standard_normal((n, k))
    of_a, of_b = numbers.standard_normal((3, m)), numbers.standard_normal((2, 3))
    d = module.reference(a=a, b=b, scale_a=of_a, scale_b=of_b, k_blocks=3, n_blocks=2)["d"]
    for row, column in [(0, 0), (2, 127), (1, 128), (2, 129)]:
        wanted = sum(
            a[row, i] * b[column, i] * of_a[i // 128, row] * of_b[column // 128, i // 128] for i in range(k)
        )
        assert d[row, column] == pytest.approx(wanted)
