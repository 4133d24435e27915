"""The kernel on each GPU: its target, its attributes, its context, and several threads at once."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from cuda.bindings import driver as bindings

from tests.runtime.arrays import Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver, Gpu
from tests.runtime.manifests import tensor
from tsc.runtime.devices import runs_on
from tsc.runtime.errors import LaunchError

SMEM = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
CLUSTER = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED"


@pytest.mark.parametrize(
    ("arch", "major", "minor", "runs"),
    [
        ("sm_90a", 9, 0, True),
        ("sm_90", 9, 0, True),
        ("sm_90a", 10, 0, False),
        ("sm_90", 8, 9, False),
        ("sm_80", 8, 6, True),
        ("sm_86", 8, 0, False),
        ("sm_80", 9, 0, False),
        ("sm_100a", 10, 0, True),
        ("sm_100a", 10, 3, False),
        ("sm_100f", 10, 3, True),
        ("sm_103f", 10, 0, False),
        ("sm_120a", 12, 0, True),
        ("sm_100", 10, 3, True),
        ("compute_90", 9, 0, False),
    ],
)
def test_which_code_runs_where(arch: str, major: int, minor: int, runs: bool) -> None:
    assert runs_on(arch, major, minor) is runs


def test_large_shared_memory_is_allowed_once(make: Make, driver: FakeDriver) -> None:
    kernel = make(smem_bytes=200_000)
    for m in (4, 4, 8):
        kernel(Tensor(m, 4))
    assert driver.named("cuKernelSetAttribute") == [(SMEM, 200_000, 0x200, 0)]
    assert len(driver.named("cuKernelGetFunction")) == 1


def test_a_limit_is_never_lowered(make: Make, driver: FakeDriver) -> None:
    driver.attributes[SMEM, 0] = 227_000
    make(smem_bytes=200_000)(Tensor(4, 4))
    make(smem_bytes=1000)(Tensor(4, 4))
    assert driver.named("cuKernelSetAttribute") == []


def test_more_shared_memory_than_the_gpu_has_is_refused(make: Make, driver: FakeDriver) -> None:
    driver.gpus[0].smem_limit = 101_376
    with pytest.raises(LaunchError) as refusal:
        make(smem_bytes=200_000)(Tensor(4, 4))
    assert str(refusal.value) == (
        "`scale`: the kernel needs 200,000 B of shared memory and GPU 0 (Fake H200) allows 101,376 B; build "
        "it with "
        "fewer stages or smaller buffers"
    )
    assert driver.named("cuKernelSetAttribute") == []


@pytest.mark.parametrize(("cluster", "set_"), [([8, 1, 1], []), ([4, 4, 1], [(CLUSTER, 1, 0x200, 0)])])
def test_large_clusters_are_allowed(
    make: Make, driver: FakeDriver, cluster: list[int], set_: list[Any]
) -> None:
    make(cluster=cluster, grid=["8", "4", "1"])(Tensor(4, 4))
    assert driver.named("cuKernelSetAttribute") == set_


def test_each_gpu_is_made_ready_when_it_is_first_used(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(Gpu(sms=78))
    kernel = make(smem_bytes=100_000, grid=["sms", "1", "1"])
    assert driver.named("cuKernelSetAttribute") == []
    for device in (1, 0, 1, 0):
        kernel(Tensor(4, 4, device=device))
    assert driver.named("cuKernelSetAttribute") == [(SMEM, 100_000, 0x200, 1), (SMEM, 100_000, 0x200, 0)]
    assert [(launched.device, launched.grid[0]) for launched in driver.launches] == [
        (1, 78),
        (0, 132),
        (1, 78),
        (0, 132),
    ]
    assert len(driver.named("cuLibraryLoadData")) == 1


def test_the_context_is_that_of_the_tensors_and_only_for_the_call(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(Gpu())
    kernel = make()
    for _ in range(3):
        kernel(Tensor(4, 4, device=1))
        assert driver.contexts == [0]
    assert driver.named("cuDevicePrimaryCtxRetain") == [(1,)]
    assert [launched.device for launched in driver.launches] == [1, 1, 1]


def test_a_refused_call_leaves_the_context_as_it_was(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(Gpu())
    with pytest.raises(LaunchError):
        make()(Tensor(4, 4, device=1, address=0))
    assert driver.contexts == [0]


def test_a_thread_without_a_context_uses_the_primary_one(make: Make, driver: FakeDriver) -> None:
    kernel = make()
    kernel(Tensor(4, 4))
    driver.first_context = None
    stacks = []

    def run() -> None:
        for _ in range(2):
            kernel(Tensor(4, 4))
            stacks.append(list(driver.contexts))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert stacks == [[], []]
    assert [launched.device for launched in driver.launches] == [0, 0, 0]
    assert driver.named("cuDevicePrimaryCtxRetain") == [(0,)]


def test_another_gpu_is_refused_with_both_names(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(Gpu(major=8, minor=0, name="Fake A100"))
    with pytest.raises(LaunchError) as refusal:
        make()(Tensor(4, 4, device=1))
    assert str(refusal.value) == (
        "`scale`: the cubin is built for `sm_90a` and GPU 1 (Fake A100) is `sm_80`; build it with `--arch` "
        "for that one"
    )
    assert driver.contexts == [0]


def test_prepare_makes_ready_ahead_of_the_first_call(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(Gpu(major=8, name="Fake A100"))
    kernel = make(smem_bytes=100_000)
    kernel.prepare()
    kernel.prepare(0)
    assert len(driver.named("cuKernelSetAttribute")) == 1
    with pytest.raises(LaunchError, match="`scale`: the cubin is built for `sm_90a` and GPU 1"):
        kernel.prepare(1)


def test_many_threads_and_shapes(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        smem_bytes=100_000,
        params=[tensor("x", "m", "n")],
        arguments=[
            {"kind": "value", "expr": "m", "type": "i32"},
            {"kind": "value", "expr": "n", "type": "i32"},
        ],
        grid=["m", "n", "1"],
    )
    start = threading.Barrier(8)
    failures: list[Exception] = []

    def run(number: int) -> None:
        start.wait()
        try:
            for index in range(300):
                kernel(Tensor(number + 1, index % 50 + 1))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(driver.launches) == 2400
    for launched in driver.launches:
        m, n = (int.from_bytes(parameter, "little") for parameter in launched.parameters)
        assert launched.grid == (m, n, 1)
    assert len(driver.named("cuKernelSetAttribute")) == 1


def test_what_the_driver_says_about_a_launch_is_translated(make: Make, driver: FakeDriver) -> None:
    kernel = make(grid=["m", "2", "1"])
    kernel(Tensor(4, 4))
    driver.failing["cuLaunchKernelEx"] = bindings.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(4, 4))
    assert str(refusal.value) == (
        "`scale`: the driver fails to launch 4 x 2 x 1 CTAs with CUDA_ERROR_ILLEGAL_ADDRESS: a kernel reads "
        "or writes "
        "outside its memory; launches are asynchronous, so an earlier kernel of this process may be the "
        "cause, and CUDA "
        "cannot be used in this process any more; run it under `compute-sanitizer` to find the kernel"
    )
