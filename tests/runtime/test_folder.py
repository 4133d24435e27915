"""A folder of cubins for several targets: which one a GPU gets, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import tsc
from tests.runtime.arrays import Tensor
from tests.runtime.cubins import cubin
from tests.runtime.fake_driver import FakeDriver, Gpu

pytest.importorskip("cuda.bindings.nvrtc")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> FakeDriver:
    """The fake driver in the place of the bindings' one."""
    driver.parameter_sizes = [8]
    monkeypatch.setattr("cuda.bindings.driver", driver)
    return driver


def folder(place: Path, *archs: str) -> Path:
    for arch in archs:
        (place / f"scale.{arch}.cubin").write_bytes(cubin(arch=arch))
    return place


def refusal_of(place: Path) -> str:
    with pytest.raises(tsc.LoadError) as refusal:
        tsc.load(place)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("capability", "arch"),
    [((9, 0), "sm_90a"), ((10, 0), "sm_100a"), ((10, 3), "sm_103a"), ((10, 1), "sm_100")],
    ids=str,
)
def test_each_gpu_gets_the_closest_target(
    machine: FakeDriver, tmp_path: Path, capability: tuple[int, int], arch: str
) -> None:
    machine.gpus = [Gpu(*capability)]
    kernel = tsc.load(folder(tmp_path, "sm_90a", "sm_90", "sm_100", "sm_100a", "sm_103a"))
    assert kernel.manifest.arch == arch
    kernel(Tensor(4, 4))
    assert len(machine.launches) == 1


def test_the_gpu_in_use_decides(machine: FakeDriver, tmp_path: Path) -> None:
    machine.gpus = [Gpu(), Gpu(major=10)]
    machine.first_context = 1
    assert tsc.load(folder(tmp_path, "sm_90a", "sm_100a")).manifest.arch == "sm_100a"


def test_none_for_this_gpu(machine: FakeDriver, tmp_path: Path) -> None:
    machine.gpus = [Gpu(major=12, name="Fake B300")]
    assert refusal_of(folder(tmp_path, "sm_90a", "sm_100a")) == (
        f"`{tmp_path}`: its cubins are built for `sm_100a` and `sm_90a`, and GPU 0 (Fake B300) is `sm_120`; "
        "build one with `--arch` for it"
    )


def test_two_kernels_or_one_twice(machine: FakeDriver, tmp_path: Path) -> None:
    folder(tmp_path, "sm_90a")
    other = tmp_path / "other.cubin"
    other.write_bytes(cubin())
    assert refusal_of(tmp_path) == (
        f"`{tmp_path}`: `other.cubin` and `scale.sm_90a.cubin` are built for the same target; name the file "
        "to load"
    )
    text = 'extern "C" __global__ void shift(const unsigned short *x) { if (x == nullptr) __trap(); }'
    other.write_bytes(cubin(text, kernel="shift"))
    assert refusal_of(tmp_path) == (
        f"`{tmp_path}`: it has the kernels `scale` and `shift`, and one is loaded; name its file"
    )


def test_a_damaged_one_is_named(machine: FakeDriver, tmp_path: Path) -> None:
    (folder(tmp_path, "sm_90a") / "b.cubin").write_bytes(b"")
    assert refusal_of(tmp_path) == f"`{tmp_path / 'b.cubin'}`: the file is empty"
