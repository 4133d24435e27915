"""Workspaces: allocated once, zeroed as often as the spec says, grown without freeing what a launch uses."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from cuda.bindings import driver as bindings

from tests.runtime.arrays import Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tsc.runtime.errors import LaunchError
from tsc.runtime.kernel import Kernel

FIRST = 0x7000_0000_0000


def with_workspace(make: Make, zero: str = "never", *shape: str, **more: Any) -> Kernel:
    return make(
        workspace=[{"name": "w", "dtype": "f32", "shape": list(shape or ("8", "m")), "zero": zero}],
        arguments=[{"kind": "pointer", "tensor": "w"}],
        **more,
    )


def pointers(driver: FakeDriver) -> list[int]:
    return [int.from_bytes(launched.parameters[0], "little") for launched in driver.launches]


def test_it_is_allocated_once(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make)
    for _ in range(3):
        kernel(Tensor(64, 4))
    kernel(Tensor(32, 4))
    assert driver.named("cuMemAlloc") == [(8 * 64 * 4,)]
    assert driver.named("cuMemsetD8Async") == []
    assert pointers(driver) == [FIRST] * 4


def test_each_stream_has_its_own(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make)
    for stream in (7, 8, 7, 8):
        kernel(Tensor(64, 4), stream=stream)
    first, second, *again = pointers(driver)
    assert first != second
    assert again == [first, second]


def test_each_gpu_has_its_own(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(driver.gpus[0])
    kernel = with_workspace(make)
    for device in (0, 1, 0, 1):
        kernel(Tensor(64, 4, device=device))
    first, second, *again = pointers(driver)
    assert first != second
    assert again == [first, second]


def test_each_thread_has_its_own_on_the_stream_that_stands_for_many(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make)
    for _ in range(2):
        kernel(Tensor(64, 4), stream=2)
    thread = threading.Thread(target=lambda: kernel(Tensor(64, 4), stream=2))
    thread.start()
    thread.join()
    here, still_here, there = pointers(driver)
    assert here == still_here != there


def test_it_grows_and_the_old_block_stays(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make)
    for m in (64, 65, 128, 1000, 64):
        kernel(Tensor(m, 4))
    assert driver.named("cuMemAlloc") == [(2048,), (4096,), (32_000,)]
    assert driver.freed == []
    small, larger, same, largest, _ = pointers(driver)
    assert len({small, larger, largest}) == 3
    assert same == larger
    kernel.close()
    assert sorted(driver.freed) == sorted({small, larger, largest})


def test_it_grows_by_what_is_needed_where_memory_is_short(
    make: Make, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    allocate = driver.cuMemAlloc

    def short(size: int) -> tuple[Any, ...]:
        if size > 3000:
            return bindings.CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        return allocate(size)

    kernel = with_workspace(make)
    kernel(Tensor(64, 4))
    monkeypatch.setattr(driver, "cuMemAlloc", short)
    kernel(Tensor(80, 4))
    assert driver.named("cuMemAlloc") == [(2048,), (2560,)]
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(100, 4))
    assert str(refusal.value) == (
        "`scale`: the driver fails to allocate 3,200 B of workspace with CUDA_ERROR_OUT_OF_MEMORY: the GPU "
        "has too "
        "little free memory"
    )
    assert len(driver.launches) == 2


def test_zero_once(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make, "once")
    for m in (64, 64, 32, 100):
        kernel(Tensor(m, 4), stream=5)
    first, second = pointers(driver)[0], pointers(driver)[3]
    assert driver.named("cuMemsetD8Async") == [(first, 0, 2048, 5), (second, 0, 4096, 5)]


def test_zero_at_every_launch(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make, "every_launch")
    for m in (64, 64, 32):
        kernel(Tensor(m, 4), stream=5)
    pointer = pointers(driver)[0]
    assert driver.named("cuMemsetD8Async") == [(pointer, 0, size, 5) for size in (2048, 2048, 1024)]
    order = [name for name, _ in driver.calls if name in ("cuMemsetD8Async", "cuLaunchKernelEx")]
    assert order == ["cuMemsetD8Async", "cuLaunchKernelEx"] * 3


def test_no_launch_comes_between_zeroing_and_the_launch_it_is_for(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make, "every_launch")
    kernel(Tensor(64, 4))

    def run() -> None:
        for _ in range(200):
            kernel(Tensor(64, 4))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    order = [name for name, _ in driver.calls if name in ("cuMemsetD8Async", "cuLaunchKernelEx")]
    assert order == ["cuMemsetD8Async", "cuLaunchKernelEx"] * 801


def test_many_threads_make_one_block(make: Make, driver: FakeDriver) -> None:
    kernel = with_workspace(make, "once")
    start = threading.Barrier(8)

    def run() -> None:
        start.wait()
        kernel(Tensor(64, 4))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(driver.named("cuMemAlloc")) == 1
    assert len(driver.named("cuMemsetD8Async")) == 1
    assert pointers(driver) == [FIRST] * 8


def test_one_without_elements_still_has_an_address(make: Make, driver: FakeDriver) -> None:
    with_workspace(make, "every_launch", "m - 64")(Tensor(64, 4))
    assert pointers(driver) == [FIRST]
    assert driver.named("cuMemsetD8Async") == []


def test_a_negative_extent_is_refused(make: Make, driver: FakeDriver) -> None:
    with pytest.raises(LaunchError) as refusal:
        with_workspace(make, "never", "m - 65", "2")(Tensor(64, 4))
    assert str(refusal.value) == ("`scale`: workspace `w` gets shape [-1, 2], and an extent is not negative")
    assert driver.named("cuMemAlloc") == []


def test_allocation_does_not_spoil_a_capture_of_another_thread(make: Make, driver: FakeDriver) -> None:
    with_workspace(make)(Tensor(64, 4))
    names = [name for name, _ in driver.calls]
    at = names.index("cuMemAlloc")
    assert names[at - 1] == names[at + 1] == "cuThreadExchangeStreamCaptureMode"
    modes = [arguments[0] for name, arguments in driver.calls[at - 1 : at + 2 : 2]]
    assert modes == ["CU_STREAM_CAPTURE_MODE_RELAXED", "CU_STREAM_CAPTURE_MODE_GLOBAL"]
