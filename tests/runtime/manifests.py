"""Manifests as plain data, the least that a test needs."""

from __future__ import annotations

from typing import Any


def tensor(name: str, *shape: str, **more: Any) -> dict[str, Any]:
    """A tensor parameter of a manifest."""
    return {
        "kind": "tensor",
        "name": name,
        "dtype": "bf16",
        "shape": list(shape),
        "order": list(range(len(shape))),
        "access": "in",
        "align": 16,
        "stride_multiple": 1,
        "packed": False,
        "constant": False,
        **more,
    }


def scalar(name: str, dtype: str = "f32") -> dict[str, Any]:
    """A scalar parameter of a manifest."""
    return {"kind": "scalar", "name": name, "dtype": dtype}


def manifest(**changes: Any) -> dict[str, Any]:
    """A manifest that takes `x` of shape [m, n] and hands its pointer on, with some entries replaced."""
    plain = {
        "manifest": 1,
        "tsc_version": "0.1.0",
        "kernel": "scale",
        "arch": "sm_90a",
        "spec": "scale.tsc.yaml",
        "spec_sha256": "00" * 32,
        "constants": {},
        "params": [tensor("x", "m", "n")],
        "workspace": [],
        "dims": {},
        "asserts": [],
        "block": [128, 1, 1],
        "cluster": [1, 1, 1],
        "grid": ["1", "1", "1"],
        "smem_bytes": 1024,
        "ctas_per_sm": 1,
        "pdl": False,
        "arguments": [{"kind": "pointer", "tensor": "x"}],
        "tensor_maps": [],
        "layout": [],
        "barriers": [],
    }
    assert changes.keys() <= plain.keys() | {"queue"}
    plain.update(changes)
    if "dims" not in changes:
        names = {name for param in plain["params"] for name in param.get("shape", []) if name.isidentifier()}
        plain["dims"] = {name: dim() for name in sorted(names - plain["constants"].keys())}
    return plain


def dim(low: int = 0, high: int = 2**31 - 1, multiple_of: int = 1) -> dict[str, int]:
    """A dim of a manifest."""
    return {"min": low, "max": high, "multiple_of": multiple_of}
