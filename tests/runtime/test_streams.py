"""The launch goes to the stream that the caller means."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest
from cuda.bindings import driver as bindings

from tests.runtime.arrays import CudaArray, Exporter, Ndarray, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import tensor
from tsc.runtime.errors import LaunchError


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0x55


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (0x55, 0x55),
        (0, 0),
        (SimpleNamespace(cuda_stream=0x55), 0x55),
        (SimpleNamespace(ptr=0x55), 0x55),
        (SimpleNamespace(handle=0x55), 0x55),
        (SimpleNamespace(handle=bindings.CUstream(0x55)), 0x55),
        (SimpleNamespace(handle=ctypes.c_void_p(0x55)), 0x55),
        (SimpleNamespace(handle=ctypes.c_void_p(None)), 0),
        (SimpleNamespace(__cuda_stream__=(0, 0x55)), 0x55),
        (bindings.CUstream(0x55), 0x55),
        (Protocol(), 0x55),
    ],
)
def test_a_stream_of_any_kind(make: Make, driver: FakeDriver, stream: Any, handle: int) -> None:
    make()(Tensor(4, 4), stream=stream)
    assert driver.launches[0].stream == handle


@pytest.mark.parametrize("stream", ["main", 1.5, True, object(), SimpleNamespace(handle="x")])
def test_what_is_no_stream(make: Make, driver: FakeDriver, stream: Any) -> None:
    with pytest.raises(LaunchError, match="`stream`"):
        make()(Tensor(4, 4), stream=stream)
    assert driver.launches == []


@pytest.fixture
def two(make: Make, driver: FakeDriver) -> Any:
    driver.gpus.append(driver.gpus[0])
    return make(params=[tensor("x", "m"), tensor("y", "m")])


@pytest.mark.parametrize(
    ("x", "y", "stream"),
    [
        (Tensor(4), Tensor(4), 0x1000),
        (Tensor(4, device=1), Tensor(4, device=1), 0x1001),
        (Ndarray(4), Ndarray(4), 0x2000),
        (Ndarray(4, device=1), Ndarray(4, device=1), 0x2001),
        (Ndarray(4), Tensor(4), 0x1000),
        (Exporter(4), Ndarray(4), 0x2000),
        (Exporter(4), Exporter(4), 0),
        (CudaArray(4, typestr="<u2"), Exporter(4), 0),
    ],
)
def test_the_default_is_the_current_stream_of_the_arguments(
    two: Any,
    driver: FakeDriver,
    torch: SimpleNamespace,
    cupy: SimpleNamespace,
    x: Any,
    y: Any,
    stream: int,
) -> None:
    two(x, y)
    assert driver.launches[-1].stream == stream
    two(x, y, stream=0x99)
    assert driver.launches[-1].stream == 0x99


def test_the_current_stream_is_asked_for_at_every_call(
    make: Make, driver: FakeDriver, torch: SimpleNamespace
) -> None:
    kernel = make()
    kernel(Tensor(4, 4))
    torch._C._cuda_getCurrentRawStream = lambda device: 0x1234
    kernel(Tensor(4, 4))
    assert [launched.stream for launched in driver.launches] == [0x1000, 0x1234]


def test_torch_without_the_raw_call(make: Make, driver: FakeDriver, torch: SimpleNamespace) -> None:
    torch._C = SimpleNamespace()
    torch.cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=0x42 + device))
    make()(Tensor(4, 4))
    assert driver.launches[0].stream == 0x42


def test_an_older_cupy_speaks_of_the_current_device(
    make: Make, driver: FakeDriver, cupy: SimpleNamespace
) -> None:
    cupy.cuda.get_current_stream = lambda: SimpleNamespace(ptr=0x43)
    make()(Ndarray(4, 4))
    assert driver.launches[0].stream == 0x43
