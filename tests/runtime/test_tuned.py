"""A tuned kernel: which cubin a call goes to, and what a folder lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cuda.bindings import driver as bindings

import tsc
from tests.runtime.arrays import CudaArray, Tensor
from tests.runtime.cubins import cubin
from tests.runtime.fake_driver import FakeDriver
from tsc.artifact.tuned import Entry, Table, to_json
from tsc.runtime.tuned import TunedKernel

Tune = Callable[..., TunedKernel]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> FakeDriver:
    """The fake driver in the place of the bindings' one."""
    assert bindings is not driver
    driver.parameter_sizes = [8]
    monkeypatch.setattr("cuda.bindings.driver", driver)
    return driver


@pytest.fixture
def tune(machine: FakeDriver, tmp_path: Path) -> Iterator[Tune]:
    """A tuned kernel of cases with some rows each, loaded from a folder of cubins of as many threads."""
    made: list[TunedKernel] = []

    def build(*rows: int, devices: tuple[str, ...] = (), named: bool = True) -> TunedKernel:
        entries = []
        for index, m in enumerate(rows):
            (tmp_path / f"p{index}.cubin").write_bytes(cubin(block=[32 * (index + 1), 1, 1]))
            device = devices[index] if devices else "any"
            cubin_name = f"p{index}.cubin" if named else ""
            entries.append(Entry({"m": m, "n": 64}, {}, device, 1.0, 1.0, cubin=cubin_name))
        table = Table("scale.tsc.yaml", "00", "scale", tuple(entries))
        (tmp_path / "scale.tuned.json").write_text(to_json(table))
        kernel = tsc.load(tmp_path)
        assert isinstance(kernel, TunedKernel)
        made.append(kernel)
        return kernel

    yield build
    for kernel in made:
        kernel.close()


def threads(machine: FakeDriver) -> list[int]:
    return [launch.block[0] for launch in machine.launches]


def test_each_call_goes_to_the_nearest_case(tune: Tune, machine: FakeDriver) -> None:
    kernel = tune(128, 4096, 65536)
    for m in (1, 200, 4096, 100_000, 4100):
        kernel(Tensor(m, 64))
    assert threads(machine) == [32, 32, 64, 96, 64]


def test_cubins_are_loaded_when_they_are_needed_and_once(tune: Tune, machine: FakeDriver) -> None:
    kernel = tune(128, 4096, 65536)
    assert len(machine.named("cuLibraryLoadData")) == 1
    for _ in range(3):
        kernel(x=Tensor(4096, 64))
    assert len(machine.named("cuLibraryLoadData")) == 2
    kernel.prepare()
    assert len(machine.named("cuLibraryLoadData")) == 3
    kernel.close()
    assert len(machine.named("cuLibraryUnload")) == 3


def test_cases_of_this_gpu_come_first(tune: Tune, machine: FakeDriver) -> None:
    name = machine.gpus[0].name
    kernel = tune(128, 4096, devices=("another", name))
    kernel(Tensor(128, 64))
    assert threads(machine) == [64]


def test_arrays_by_other_protocols_have_shapes_too(tune: Tune) -> None:
    kernel = tune(128, 4096)
    assert kernel._sizes((CudaArray(4096, 64),), {}) == {"m": 4096, "n": 64}


def test_a_wrong_call_is_refused_as_by_one_kernel(tune: Tune, machine: FakeDriver) -> None:
    kernel = tune(128)
    with pytest.raises(tsc.LaunchError, match="`scale`: it takes 1 argument"):
        kernel()
    with pytest.raises(tsc.LaunchError, match="`scale`: "):
        kernel(Tensor(4, 4, 4))
    assert machine.launches == []


def test_it_speaks_like_a_kernel(tune: Tune) -> None:
    kernel = tune(128, 4096)
    assert kernel.manifest.kernel == "scale"
    assert repr(kernel) == "<tuned tsc kernel scale of 2 cases for sm_90a>"
    assert kernel.grid(m=4000, n=64) == (1, 1, 1)
    assert kernel.entry(m=4000, n=64).case["m"] == 4096


def test_a_table_without_cubins_or_cases_is_refused(tune: Tune) -> None:
    with pytest.raises(tsc.LoadError, match="names no cubins; build them with `tsc build SPEC --tuned"):
        tune(128, named=False)
    with pytest.raises(tsc.LoadError, match="has no case"):
        tune()


def test_a_cubin_that_is_gone_is_said_by_the_call(tune: Tune, tmp_path: Path) -> None:
    kernel = tune(128, 4096)
    (tmp_path / "p1.cubin").unlink()
    with pytest.raises(tsc.LaunchError, match=r"p1.cubin` does not exist"):
        kernel(Tensor(4096, 64))
    kernel(Tensor(128, 64))
