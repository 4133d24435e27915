"""Kernels from manifests, on a driver in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("cuda.bindings.driver", reason="no CUDA bindings for this platform")

from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import manifest
from tsc.artifact.manifest import decode_manifest
from tsc.runtime.driver import Cuda
from tsc.runtime.kernel import Kernel

Make = Callable[..., Kernel]


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


@pytest.fixture
def make(driver: FakeDriver) -> Make:
    """A kernel from a manifest with some entries replaced."""

    def build(**changes: Any) -> Kernel:
        kernel = Kernel(decode_manifest(json.dumps(manifest(**changes)).encode()), b"image", Cuda(driver))
        driver.parameter_sizes = [slot.bytes for slot in kernel._signature.slots]
        return kernel

    return build


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A module `torch` whose current stream on GPU d is 0x1000 + d."""
    module = SimpleNamespace(_C=SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 0x1000 + device))
    monkeypatch.setitem(sys.modules, "torch", cast(ModuleType, module))
    return module


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A module `cupy` whose current stream on GPU d is 0x2000 + d."""
    module = SimpleNamespace(
        cuda=SimpleNamespace(get_current_stream=lambda device: SimpleNamespace(ptr=0x2000 + device))
    )
    monkeypatch.setitem(sys.modules, "cupy", cast(ModuleType, module))
    return module
