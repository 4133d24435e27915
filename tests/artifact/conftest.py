"""A manifest as the generator writes it, and cubins that carry it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from tsc.artifact.manifest import to_c_array

MANIFEST: dict[str, object] = {
    "manifest": 1,
    "tsc_version": "0.1.0",
    "kernel": "tma_copy",
    "arch": "sm_90a",
    "spec": "tma.tsc.yaml",
    "spec_sha256": "5e" * 32,
    "constants": {"ROWS": 64, "FAST": True},
    "params": [
        {"kind": "tensor", "name": "x", "dtype": "bf16", "shape": ["m", "n"], "order": [0, 1], "access": "in",
         "align": 16, "stride_multiple": 8, "packed": False, "constant": False, "padded": True},
        {"kind": "tensor", "name": "y", "dtype": "f32", "shape": ["n", "m + 1"], "order": [1, 0],
         "access": "out", "align": 16, "stride_multiple": 1, "packed": True, "constant": False,
         "padded": False},
        {"kind": "scalar", "name": "eps", "dtype": "f32"},
    ],
    "workspace": [{"name": "partial", "dtype": "f32", "shape": ["8", "m"], "zero": "every_launch"}],
    "dims": {
        "m": {"min": 0, "max": 2147483647, "multiple_of": 1, "runs_at_zero": True},
        "n": {"min": 8, "max": 4096, "multiple_of": 8, "runs_at_zero": False},
    },
    "asserts": [{"expr": "n % 8 == 0", "text": "n is a multiple of 8"}],
    "block": [96, 1, 1],
    "cluster": [1, 1, 1],
    "grid": ["min(sms, cdiv(m, ROWS))", "1", "1"],
    "smem_bytes": 101376,
    "ctas_per_sm": 1,
    "pdl": False,
    "arguments": [
        {"kind": "tensor_map", "map": 0},
        {"kind": "pointer", "tensor": "y"},
        {"kind": "pointer", "tensor": "partial"},
        {"kind": "stride", "tensor": "x", "dim": 0, "type": "i64"},
        {"kind": "value", "expr": "m", "type": "i32"},
        {"kind": "scalar", "param": "eps", "type": "f32"},
        {"kind": "counter", "queue": "tiles"},
    ],
    "tensor_maps": [{"tensor": "x", "box": [64, 64], "swizzle": 0, "l2": 128, "fill": "zero"}],
    "layout": [
        {"name": "ring", "offset": 0, "bytes": 98304, "stages": 12, "over": ""},
        {"name": "spare", "offset": 8192, "bytes": 512, "stages": 1, "over": "stage 1 of ring"},
    ],
    "barriers": [{"name": "ring.full", "offset": 98304, "count": 12, "arrivals": 1}],
    "queue": {"name": "tiles", "policy": "atomic", "stages": 2},
}  # fmt: skip

KERNEL = """
extern "C" __global__ void __launch_bounds__(96) tma_copy(float *y, int m) {
    __shared__ float rows[96];
    rows[threadIdx.x] = y[m];
    __syncthreads();
    y[threadIdx.x] = rows[95 - threadIdx.x];
}
"""


@pytest.fixture(scope="session")
def sample_text() -> str:
    """The manifest's JSON, for tests that make many variants of it."""
    return json.dumps(MANIFEST)


@pytest.fixture
def sample() -> dict[str, object]:
    """The manifest's JSON as plain data, a fresh copy for each test."""
    return copy.deepcopy(MANIFEST)


@pytest.fixture(scope="session")
def cubin_for() -> Callable[[str], bytes]:
    """The sample kernel for a target, its manifest inside."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from tsc.toolchain.nvrtc import compile_cuda

    made: dict[str, bytes] = {}

    def compiled(arch: str) -> bytes:
        if arch not in made:
            text = json.dumps({**MANIFEST, "arch": arch})
            made[arch] = compile_cuda(to_c_array(text) + KERNEL, arch=arch).cubin
        return made[arch]

    return compiled


@pytest.fixture(scope="session")
def cubin(cubin_for: Callable[[str], bytes]) -> bytes:
    """The sample kernel for sm_90a."""
    return cubin_for("sm_90a")
