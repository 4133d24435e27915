"""Under CUDA-graph capture a call does nothing but launch; what would be more is refused with advice."""

from __future__ import annotations

from typing import Any

import pytest
from cuda.bindings import driver as bindings

from tests.runtime.arrays import Exporter, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tsc.runtime.errors import LaunchError

STREAM = 0x77

# What may be enqueued or asked for while a stream is being captured.
HARMLESS = {
    "cuStreamIsCapturing",
    "cuStreamGetDevice",
    "cuTensorMapEncodeTiled",
    "cuLaunchKernelEx",
    "cuMemsetD8Async",
}


def kernel_with_everything(make: Make, zero: str) -> Any:
    return make(
        smem_bytes=200_000,
        workspace=[{"name": "w", "dtype": "f32", "shape": ["m"], "zero": zero}],
        arguments=[{"kind": "tensor_map", "map": 0}, {"kind": "pointer", "tensor": "w"}],
        tensor_maps=[{"tensor": "x", "box": [8, 8], "swizzle": 0, "l2": 128, "fill": "zero"}],
    )


@pytest.mark.parametrize("zero", ["never", "once", "every_launch"])
def test_after_one_call_it_only_launches(make: Make, driver: FakeDriver, zero: str) -> None:
    kernel = kernel_with_everything(make, zero)
    kernel(Tensor(64, 64), stream=STREAM)
    driver.capturing.add(STREAM)
    before = len(driver.calls)
    kernel(Tensor(64, 64), stream=STREAM)
    # Other tensors and smaller ones need nothing new either.
    kernel(Tensor(64, 64, address=0x7F00_0000_1000), stream=STREAM)
    kernel(Tensor(32, 64), stream=STREAM)
    assert {name for name, _ in driver.calls[before:]} <= HARMLESS
    assert len(driver.launches) == 4
    assert len(driver.named("cuMemsetD8Async")) == {"never": 0, "once": 1, "every_launch": 4}[zero]


def test_a_kernel_that_is_not_loaded_yet_is_refused(make: Make, driver: FakeDriver) -> None:
    kernel = kernel_with_everything(make, "never")
    driver.capturing.add(STREAM)
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(64, 64), stream=STREAM)
    assert str(refusal.value) == (
        "`scale`: the kernel is not loaded on GPU 0 yet, and a graph capture is under way; call it once, or "
        "its `prepare`, "
        "before the capture"
    )
    assert driver.named("cuKernelSetAttribute") == []
    assert driver.launches == []
    kernel.prepare()
    with pytest.raises(LaunchError, match="workspace `w` needs 256 B that are not allocated yet"):
        kernel(Tensor(64, 64), stream=STREAM)


def test_a_workspace_that_is_not_there_yet_is_refused(make: Make, driver: FakeDriver) -> None:
    kernel = kernel_with_everything(make, "once")
    kernel(Tensor(64, 64), stream=STREAM)
    driver.capturing.add(STREAM)
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(65, 64), stream=STREAM)
    assert str(refusal.value) == (
        "`scale`: workspace `w` needs 260 B that are not allocated yet, and a graph capture is under way; "
        "call the kernel "
        "once on this stream with these shapes before the capture"
    )
    driver.capturing.clear()
    kernel(Tensor(65, 64), stream=STREAM)
    driver.capturing.add(STREAM)
    kernel(Tensor(65, 64), stream=STREAM)
    assert len(driver.launches) == 3


def test_a_prepared_kernel_without_workspace_needs_no_call_before(make: Make, driver: FakeDriver) -> None:
    kernel = make(smem_bytes=200_000)
    kernel.prepare()
    driver.capturing.add(STREAM)
    kernel(Tensor(64, 64), stream=STREAM)
    assert len(driver.launches) == 1


def test_a_producer_is_not_asked_to_order_work_in_a_capture(make: Make, driver: FakeDriver) -> None:
    given = Exporter(4, 4)
    kernel = make()
    kernel(given, stream=STREAM)
    driver.capturing.add(STREAM)
    kernel(given, stream=STREAM)
    assert given.streams == [STREAM, -1]


def test_the_default_stream_beside_a_capture_is_refused(make: Make, driver: FakeDriver) -> None:
    kernel = make()
    kernel(Tensor(4, 4))
    driver.failing["cuLaunchKernelEx"] = bindings.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(4, 4))
    assert str(refusal.value) == (
        "`scale`: the driver fails to launch 1 x 1 x 1 CTAs with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: a graph "
        "capture is "
        "under way and the launch goes to the default stream; pass the capturing stream as `stream`"
    )
