"""`tsc.load`: a good cubin becomes a kernel, anything else one sentence, and the file is looked at first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from cuda.bindings import driver as bindings

import tsc
from tests.runtime.arrays import Tensor
from tests.runtime.cubins import COPY, compiled, cubin
from tests.runtime.fake_driver import FakeDriver, Gpu

pytest.importorskip("cuda.bindings.nvrtc")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> FakeDriver:
    """The fake driver in the place of the bindings' one."""
    driver.parameter_sizes = [8]
    monkeypatch.setattr("cuda.bindings.driver", driver)
    return driver


def refusal_of(source: Any) -> str:
    with pytest.raises(tsc.LoadError) as refusal:
        tsc.load(source)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
    sentence = str(refusal.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("kind", [str, Path, bytes, bytearray, memoryview])
def test_a_path_or_the_bytes(machine: FakeDriver, tmp_path: Path, kind: Any) -> None:
    data = cubin()
    path = tmp_path / "scale.cubin"
    path.write_bytes(data)
    kernel = tsc.load(kind(path) if kind in (str, Path) else kind(data))
    kernel(Tensor(4, 4))
    assert len(machine.launches) == 1
    ((image, *rest),) = machine.named("cuLibraryLoadData")
    assert image == data
    assert rest == [[], [], 0, [], [], 0]
    assert machine.named("cuLibraryGetKernel") == [(0x100, b"scale")]


def test_a_gpu_in_use_is_made_ready_at_once(machine: FakeDriver) -> None:
    machine.capturing.add(7)
    tsc.load(cubin())(Tensor(4, 4), stream=7)
    assert len(machine.launches) == 1


def test_no_gpu_is_opened_before_the_first_call(machine: FakeDriver) -> None:
    machine.first_context = None
    kernel = tsc.load(cubin())
    assert machine.named("cuDevicePrimaryCtxRetain") == machine.named("cuCtxPushCurrent") == []
    kernel(Tensor(4, 4))
    assert machine.named("cuDevicePrimaryCtxRetain") == [(0,)]


def test_what_is_no_file(machine: FakeDriver, tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "a.cubin") == f"`{tmp_path / 'a.cubin'}` does not exist"
    assert refusal_of(tmp_path) == (
        f"`{tmp_path}` is a folder, not a cubin, and has neither cubins for several targets nor a "
        "`*.tuned.json` in it, which `tsc tune` or `python -m tsc.tune.measure` writes"
    )
    assert refusal_of(5) == "a `int` is no cubin; pass a path or the cubin's bytes"
    assert refusal_of("a\0b").startswith("`a\0b` cannot be read")


def test_what_is_no_cubin(machine: FakeDriver, tmp_path: Path) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(b"")
    assert refusal_of(path) == f"`{path}`: the file is empty"
    assert refusal_of(b"hello") == "the file is not an ELF file, so it is no cubin"
    assert refusal_of(cubin()[:3000]).startswith("the cubin is cut off")
    assert (
        refusal_of(compiled(COPY))
        == "the cubin was not built by tsc: it has no manifest (symbol `tsc_manifest`)"
    )


def test_a_newer_manifest(machine: FakeDriver) -> None:
    sentence = refusal_of(cubin(manifest=2, tsc_version="9.1"))
    assert sentence.startswith("the cubin's manifest has version 2 (built by tsc ")
    assert "upgrade" in sentence


def test_a_manifest_of_other_code(machine: FakeDriver) -> None:
    arguments = [{"kind": "pointer", "tensor": "x"}, {"kind": "value", "expr": "m", "type": "i32"}]
    assert refusal_of(cubin(arguments=arguments)) == (
        "the cubin's manifest is damaged: it describes arguments of [8, 4] B, and the code of `scale` takes "
        "[8] B"
    )


def test_the_file_is_looked_at_before_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    assert refusal_of(tmp_path / "a.cubin").endswith("does not exist")
    assert refusal_of(cubin()) == (
        "cuda-python is not installed, and kernels run through it; `pip install cuda-python`"
    )


def test_a_gpu_of_another_target(machine: FakeDriver, tmp_path: Path) -> None:
    machine.gpus = [Gpu(major=10, minor=0, name="Fake B200")]
    path = tmp_path / "scale.cubin"
    path.write_bytes(cubin())
    sentence = (
        "the cubin is built for `sm_90a` and GPU 0 (Fake B200) is `sm_100`; build it with `--arch` "
        "for that one"
    )
    assert refusal_of(path) == f"`{path}`: {sentence}"
    machine.gpus.append(Gpu())
    tsc.load(path)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "CUDA_ERROR_NO_DEVICE",
            "the driver fails to start with CUDA_ERROR_NO_DEVICE: there is a driver but no GPU that "
            "this process may use; look at `nvidia-smi` and at `CUDA_VISIBLE_DEVICES`",
        ),
        (
            "CUDA_ERROR_STUB_LIBRARY",
            "the driver fails to start with CUDA_ERROR_STUB_LIBRARY: the `libcuda` found is the "
            "toolkit's stub, not a driver; take the toolkit's `stubs` folder out of `LD_LIBRARY_PATH`",
        ),
        ("CUDA_ERROR_EXTERNAL_DEVICE", "the driver fails to start with CUDA_ERROR_EXTERNAL_DEVICE"),
    ],
)
def test_a_driver_that_does_not_start(machine: FakeDriver, code: str, sentence: str) -> None:
    machine.failing["cuInit"] = getattr(bindings.CUresult, code)
    assert refusal_of(cubin()) == sentence


def test_a_driver_without_a_gpu(machine: FakeDriver) -> None:
    machine.gpus = []
    assert refusal_of(cubin()).startswith("the driver fails to start with CUDA_ERROR_NO_DEVICE: ")


def test_a_driver_that_is_broken(machine: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(flags: int) -> tuple[Any, ...]:
        raise RuntimeError("Function cuInit not found\nmore")

    monkeypatch.setattr(machine, "cuInit", broken)
    assert refusal_of(cubin()) == "the CUDA driver cannot be used: Function cuInit not found"


@pytest.mark.parametrize("function", ["cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction"])
def test_a_driver_that_refuses_the_cubin(machine: FakeDriver, function: str) -> None:
    machine.failing[function] = bindings.CUresult.CUDA_ERROR_INVALID_IMAGE
    assert refusal_of(cubin()).endswith(
        "with CUDA_ERROR_INVALID_IMAGE: the driver cannot read the cubin; it is damaged, or newer than the "
        "driver"
    )
