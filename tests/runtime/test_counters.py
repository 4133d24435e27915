"""Counters of queues: one a stream, one of its own for each launch that a graph takes, zeroed when made."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.runtime.arrays import Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tsc.runtime.driver import PER_THREAD_STREAM
from tsc.runtime.errors import LaunchError
from tsc.runtime.kernel import Kernel

STREAM = 0x77


def counting(make: Make, **changes: Any) -> Kernel:
    return make(
        arguments=[{"kind": "pointer", "tensor": "x"}, {"kind": "counter", "queue": "tiles"}],
        queue={"name": "tiles", "policy": "atomic", "stages": 2},
        **changes,
    )


def counters(driver: FakeDriver) -> list[int]:
    """The counter of each launch so far."""
    return [int.from_bytes(launch.parameters[1], "little") for launch in driver.launches]


def test_launches_of_a_stream_share_a_counter_and_streams_do_not(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)
    for stream in (STREAM, STREAM, 0x88, 0, STREAM):
        kernel(Tensor(64, 64), stream=stream)
        kernel(Tensor(8, 64), stream=stream)
    found = counters(driver)
    assert found[0:4] == [found[0]] * 4 and found[8:] == [found[0]] * 2
    assert len({found[0], found[4], found[6]}) == 3
    assert all(abs(a - b) >= 128 for a in set(found) for b in set(found) if a != b)


def test_memory_is_made_once_and_zeroed_before_anything_counts(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)
    for stream in range(0x100, 0x120):
        kernel(Tensor(64, 64), stream=stream)
    ((pointer, value, size, zeroing),) = driver.named("cuMemsetD8Async")
    assert value == 0 and all(pointer <= one < pointer + size for one in counters(driver))
    names = [name for name, _ in driver.calls]
    order = [names.index(name) for name in ("cuMemAlloc", "cuMemsetD8Async", "cuStreamSynchronize")]
    assert order == sorted(order) and order[-1] < names.index("cuLaunchKernelEx")
    # On a stream that orders nothing else, gone afterwards.
    assert driver.named("cuStreamCreate") == [(1,)]
    assert driver.named("cuStreamSynchronize") == driver.named("cuStreamDestroy") == [(zeroing,)]


def test_more_streams_than_a_slab_holds(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)
    for stream in range(0x1000, 0x1000 + 600):
        kernel(Tensor(64, 64), stream=stream)
    assert len(set(counters(driver))) == 600
    assert len(driver.named("cuMemAlloc")) == 2
    kernel.close()
    assert len(driver.freed) == 2


def test_each_launch_that_a_graph_takes_has_its_own(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)
    kernel(Tensor(64, 64), stream=STREAM)
    driver.capturing.add(STREAM)
    for _ in range(3):
        kernel(Tensor(64, 64), stream=STREAM)
    driver.capturing.clear()
    kernel(Tensor(64, 64), stream=STREAM)
    first, *captured, last = counters(driver)
    assert first == last and len({first, *captured}) == 4
    assert [launch.parameters[0] for launch in driver.launches] == [driver.launches[0].parameters[0]] * 5


def test_a_capture_may_need_more_memory_than_there_is(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)
    kernel.prepare()
    driver.capturing.add(STREAM)
    for _ in range(520):
        kernel(Tensor(64, 64), stream=STREAM)
    assert len(set(counters(driver))) == 520
    # Nothing of this may be part of the graph.
    assert STREAM not in {stream for *_, stream in driver.named("cuMemsetD8Async")}
    assert driver.named("cuThreadExchangeStreamCaptureMode")


def test_threads_have_their_own_on_the_stream_of_each_thread(make: Make, driver: FakeDriver) -> None:
    kernel = counting(make)

    def run() -> None:
        kernel(Tensor(64, 64), stream=PER_THREAD_STREAM)

    run()
    other = threading.Thread(target=run)
    other.start()
    other.join()
    assert len(set(counters(driver))) == 2


def test_who_has_no_queue_asks_nothing_of_the_stream(make: Make, driver: FakeDriver) -> None:
    kernel = make()
    kernel(Tensor(64, 64), stream=STREAM)
    before = len(driver.named("cuStreamIsCapturing"))
    kernel(Tensor(64, 64), stream=STREAM)
    assert len(driver.named("cuStreamIsCapturing")) == before


# ---- how many can be resident ------------------------------------------------------------------------------

PERSISTENT = {
    "grid": ["cdiv(m, max(1, cdiv(m, launch.clusters))) * 2", "1", "1"],
    "cluster": [2, 1, 1],
    "queue": {"name": "tiles", "policy": "static", "stages": 0},
}


def test_the_driver_says_how_many_clusters_are_resident(make: Make, driver: FakeDriver) -> None:
    driver.clusters = 60
    kernel = make(**PERSISTENT)
    kernel(Tensor(1000, 4))
    # 132 multiprocessors hold 66 pairs by number, and 60 by their place; 17 waves need 59.
    assert driver.launches[-1].grid == (118, 1, 1)
    assert kernel.grid(m=1000, n=4) == (118, 1, 1)
    assert kernel.grid(m=1000, n=4, sms=10) == (10, 1, 1)
    assert len(driver.named("cuOccupancyMaxActiveClusters")) == 1


def test_no_more_ctas_than_the_spec_says(make: Make, driver: FakeDriver) -> None:
    driver.ctas_each = 8
    kernel = make(grid=["launch.clusters", "1", "1"], ctas_per_sm=2, queue=PERSISTENT["queue"])
    kernel(Tensor(4, 4))
    assert driver.launches[-1].grid == (264, 1, 1)


def test_more_ctas_than_can_be_resident_are_refused(make: Make, driver: FakeDriver) -> None:
    kernel = make(grid=["min(m, 500)", "1", "1"], ctas_per_sm=2, queue=PERSISTENT["queue"])
    kernel(Tensor(264, 4))
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(600, 4))
    assert str(refusal.value) == (
        "`scale`: the grid has 500 CTAs (`min(m, 500)`), and 264 can be resident at once, as CTAs that stay "
        "for several tiles have to be; write fewer `ctas`"
    )
    make(grid=["min(m, 500)", "1", "1"])(Tensor(600, 4))


def test_a_kernel_that_fits_nowhere_is_refused(make: Make, driver: FakeDriver) -> None:
    driver.ctas_each = 0
    with pytest.raises(LaunchError, match=r"no CTA of the kernel \(128 threads, 1,024 B of shared memory"):
        make(queue=PERSISTENT["queue"])(Tensor(4, 4))


def test_no_tiles_are_no_launch(make: Make, driver: FakeDriver) -> None:
    kernel = make(**PERSISTENT, params=[{**_scalar("m")}, _tensor()], arguments=[])
    kernel(0, Tensor(4, 4))
    assert driver.launches == []
    kernel(1, Tensor(4, 4))
    assert driver.launches[-1].grid == (2, 1, 1)


def _scalar(name: str) -> dict[str, Any]:
    return {"kind": "scalar", "name": name, "dtype": "i32"}


def _tensor() -> dict[str, Any]:
    from tests.runtime.manifests import tensor

    return tensor("x", "k", "n")


def test_a_count_of_tiles_that_overflows_is_refused(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[_scalar("m"), _tensor()],
        arguments=[],
        asserts=[{"expr": "m * 65536 <= 2147483647", "text": "there are at most 2,147,483,647 tiles"}],
    )
    kernel(32767, Tensor(4, 4))
    with pytest.raises(LaunchError, match="there are at most 2,147,483,647 tiles"):
        kernel(32768, Tensor(4, 4))
