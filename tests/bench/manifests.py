"""Manifests of kernels that are benched, as the cubins would say them."""

from __future__ import annotations

import json

from tests.runtime.manifests import manifest, scalar, tensor
from tsc.artifact.manifest import Manifest, decode_manifest


def gemm(dtype: str = "bf16", **changes: object) -> Manifest:
    """D[m, n] = A[m, k] B[n, k]^T."""
    params = [
        tensor("a", "m", "k", dtype=dtype),
        tensor("b", "n", "k", dtype=dtype),
        tensor("d", "m", "n", access="out", stride_multiple=8),
    ]
    arguments = [{"kind": "pointer", "tensor": name} for name in "abd"]
    plain = manifest(kernel="gemm", params=params, arguments=arguments, **changes)
    return decode_manifest(json.dumps(plain).encode())


def norm() -> Manifest:
    """A row-wise norm with a number."""
    params = [tensor("x", "rows", "512"), tensor("y", "rows", "512", access="out"), scalar("eps")]
    return decode_manifest(json.dumps(manifest(kernel="norm", params=params)).encode())
