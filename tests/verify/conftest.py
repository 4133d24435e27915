"""Arrays of both libraries on the host's memory, and kernels in Python that write it."""

from __future__ import annotations

import ctypes
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.runtime.manifests import manifest, scalar, tensor
from tsc.artifact.manifest import Manifest, decode_manifest
from tsc.verify.arrays import Arrays
from tsc.verify.case import Checker
from tsc.verify.plan import Plan

np = pytest.importorskip("numpy", reason="needs NumPy")


class HostMemory:
    """Stands for device memory."""

    name = "a machine in memory"

    def __init__(self) -> None:
        self.blocks: dict[int, Any] = {}

    def allocate(self, size: int) -> int:
        block = np.zeros(size + 512, np.uint8)
        address = -(-block.ctypes.data // 512) * 512
        self.blocks[address] = block
        return int(address)

    def release(self, address: int) -> None:
        del self.blocks[address]

    def send(self, address: int, host: Any) -> None:
        ctypes.memmove(address, host.ctypes.data, host.nbytes)

    def fetch(self, address: int, host: Any) -> None:
        ctypes.memmove(host.ctypes.data, address, host.nbytes)

    def synchronize(self) -> None:
        pass


def bits_of(argument: Any) -> Any:
    """The integers that an argument's memory holds, a view."""
    interface = (
        getattr(argument, "__cuda_array_interface__", None) if not hasattr(argument, "numpy") else None
    )
    if interface is None:
        import torch

        width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[argument.element_size()]
        return argument.view(width).numpy()
    width = int(interface["typestr"][2:])
    address, _ = interface["data"]
    reach = sum(
        (extent - 1) * stride for extent, stride in zip(interface["shape"], interface["strides"], strict=True)
    )
    memory = (ctypes.c_uint8 * (max(reach, 0) + width)).from_address(address)
    flat = np.frombuffer(memory, dtype=f"<i{width}" if width > 1 else "u1")
    return np.lib.stride_tricks.as_strided(flat, interface["shape"], interface["strides"])


def floats(bits: Any) -> Any:
    """bf16 bits as float64."""
    return (bits.astype(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def rounded(values: Any) -> Any:
    """float64 as bf16 bits, to nearest."""
    whole = np.asarray(values, np.float32).view(np.uint32).astype(np.int64)
    return ((whole + 0x7FFF + (whole >> 16 & 1)) >> 16).astype(np.uint16).view(np.int16)


@dataclass
class FakeKernel:
    """A kernel whose launch is a Python function of views of its tensors, and its scalars."""

    manifest: Manifest
    body: Callable[..., None]
    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, /, *arguments: Any, **named: Any) -> None:
        self.calls.append(named)
        self.body(*(bits_of(one) if not isinstance(one, (int, float)) else one for one in arguments))


def described(**changes: Any) -> Manifest:
    return decode_manifest(json.dumps(manifest(**changes)).encode())


GEMM = [
    tensor("a", "m", "k", stride_multiple=8),
    tensor("b", "n", "k", stride_multiple=8),
    tensor("d", "m", "n", stride_multiple=8, access="out"),
]
COPY = [tensor("x", "m", "n"), tensor("y", "m", "n", access="out")]
SCALED = [tensor("x", "n", dtype="f32"), tensor("y", "n", dtype="f32", access="out"), scalar("alpha")]


def gemm(a: Any, b: Any, d: Any) -> None:
    d[...] = rounded(floats(a) @ floats(b).T)


def copy(x: Any, y: Any) -> None:
    y[...] = x


@pytest.fixture(params=["numpy", "torch"])
def arrays(request: pytest.FixtureRequest) -> Arrays:
    """The arrays of one library."""
    if request.param == "torch":
        if importlib.util.find_spec("torch") is None:
            pytest.skip("needs PyTorch")
        from tsc.verify.torch_arrays import TorchArrays

        return TorchArrays("cpu")
    from tsc.verify.numpy_arrays import NumpyArrays

    return NumpyArrays(HostMemory())


def checker(arrays: Arrays, params: list[dict[str, Any]], body: Callable[..., None], **plan: Any) -> Checker:
    kernel = FakeKernel(described(params=params, arguments=[]), body)
    return Checker.of(kernel, Plan(kernel="scale", spec="scale.tsc.yaml", **plan), arrays)
