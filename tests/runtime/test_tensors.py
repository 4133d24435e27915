"""Every kind of tensor is read rightly, and what a protocol lends is given back."""

from __future__ import annotations

import gc
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from tests.runtime.arrays import ADDRESS, CudaArray, Exporter, Ndarray, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import tensor
from tsc.runtime.errors import LaunchError

SEEN = [
    {"kind": "pointer", "tensor": "x"},
    {"kind": "value", "expr": "m", "type": "i32"},
    {"kind": "stride", "tensor": "x", "dim": 0, "type": "i32"},
]


def seen(
    make: Make, driver: FakeDriver, given: object, dtype: str = "bf16", **call: Any
) -> tuple[int, int, int]:
    """The pointer, first extent and first stride that the kernel gets."""
    make(params=[tensor("x", "m", "n", dtype=dtype)], arguments=SEEN)(given, **call)
    pointer, extent, stride = driver.launches[-1].parameters
    return struct.unpack("<Qii", pointer + extent + stride)


def test_torch(make: Make, driver: FakeDriver) -> None:
    assert seen(make, driver, Tensor(4, 6, strides=(8, 1))) == (ADDRESS, 4, 8)


def test_cupy(make: Make, driver: FakeDriver, cupy: SimpleNamespace) -> None:
    assert seen(make, driver, Ndarray(4, 6)) == (ADDRESS, 4, 6)
    assert driver.launches[-1].stream == 0x2000


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
def test_dlpack(make: Make, driver: FakeDriver, version: tuple[int, int] | None) -> None:
    given = Exporter(4, 6, strides=(8, 1), version=version, byte_offset=32)
    assert seen(make, driver, given) == (ADDRESS + 32, 4, 8)
    gc.collect()
    assert given.deleted == 1


def test_dlpack_without_strides_is_dense(make: Make, driver: FakeDriver) -> None:
    assert seen(make, driver, Exporter(4, 6)) == (ADDRESS, 4, 6)


@pytest.mark.parametrize(
    ("dtype", "code", "bits", "lanes"),
    [
        ("f32", 2, 32, 1),
        ("bool", 6, 8, 1),
        ("e4m3", 10, 8, 1),
        ("e5m2", 12, 8, 1),
        ("i64", 0, 64, 1),
        ("u8", 1, 8, 1),
    ],
)
def test_dlpack_types(make: Make, driver: FakeDriver, dtype: str, code: int, bits: int, lanes: int) -> None:
    assert seen(make, driver, Exporter(4, 6, code=code, bits=bits, lanes=lanes), dtype) == (ADDRESS, 4, 6)


def test_dlpack_counts_elements_of_four_bits_or_pairs_of_them(make: Make, driver: FakeDriver) -> None:
    assert seen(make, driver, Exporter(4, 6, code=17, bits=4), "e2m1") == (ADDRESS, 4, 6)
    assert seen(make, driver, Exporter(4, 6, code=17, bits=4, lanes=2), "e2m1") == (ADDRESS, 4, 12)


@pytest.mark.parametrize(
    ("exporter", "sentence"),
    [
        (
            {"code": 5, "bits": 64},
            "`x` holds DLPack type 5 of 64 bits and the kernel takes bf16; convert it first",
        ),
        (
            {"lanes": 4},
            "`x` holds DLPack type 4 of 16 bits and 4 lanes and the kernel takes bf16; convert it first",
        ),
        ({"version": (2, 0)}, "`x` exports DLPack 2.0, and this tsc reads version 1"),
        (
            {"version": (1, 1), "flags": 4, "code": 0, "bits": 4},
            "`x` holds one element of less than 8 bits a byte, and the kernel reads two a byte",
        ),
        ({"place": (8, 0)}, "`x` is in Metal memory, and the kernel needs it on a GPU; copy it there first"),
        (
            {"place": (99, 0)},
            "`x` is on DLPack device type 99, and the kernel needs it on a GPU; copy it there first",
        ),
    ],
)
def test_dlpack_that_does_not_fit(
    make: Make, driver: FakeDriver, exporter: dict[str, Any], sentence: str
) -> None:
    given = Exporter(4, 6, **exporter)
    with pytest.raises(LaunchError) as refusal:
        make()(given)
    assert str(refusal.value) == f"`scale`: {sentence}"
    del refusal
    gc.collect()
    assert given.deleted == len(given.streams)


def test_a_capsule_lives_until_the_launch(
    make: Make, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Exporter(4, 6)
    deleted_at_launch = []
    launch = driver.cuLaunchKernelEx

    def watched(*arguments: Any) -> tuple[Any, ...]:
        deleted_at_launch.append(given.deleted)
        return launch(*arguments)

    monkeypatch.setattr(driver, "cuLaunchKernelEx", watched)
    kernel = make()
    for count in range(3):
        kernel(given)
        gc.collect()
        assert given.deleted == count + 1
    assert deleted_at_launch == [0, 1, 2]


@pytest.mark.parametrize(("stream", "told"), [(None, 1), (0, 1), (2, 2), (0x77, 0x77)])
def test_the_producer_is_told_the_stream(
    make: Make, driver: FakeDriver, stream: int | None, told: int
) -> None:
    given = Exporter(4, 6)
    make()(given, stream=stream)
    assert given.streams == [told]


def test_a_producer_that_fails_is_named(make: Make) -> None:
    def fail() -> None:
        raise BufferError("the tensor requires grad")

    with pytest.raises(LaunchError) as refusal:
        make()(Exporter(4, 6, during=fail))
    assert str(refusal.value) == (
        "`scale`: `x` cannot be read: its `__dlpack__` fails (the tensor requires grad)"
    )


def test_what_is_no_capsule_is_refused(make: Make) -> None:
    class Liar:
        def __dlpack__(self, *, stream: object = None) -> object:
            return 5

    with pytest.raises(LaunchError, match="`x` exports no unused DLPack capsule"):
        make()(Liar())


def test_managed_memory_is_where_the_driver_says(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(driver.gpus[0])
    driver.pointer_devices[ADDRESS] = 1
    make()(Exporter(4, 6, place=(13, 0)))
    assert driver.launches[0].device == 1


def test_cuda_array_interface(make: Make, driver: FakeDriver) -> None:
    assert seen(make, driver, CudaArray(4, 6, typestr="<f4"), "f32") == (ADDRESS, 4, 6)
    assert seen(make, driver, CudaArray(4, 6, typestr="<f4", strides=(32, 4)), "f32") == (ADDRESS, 4, 8)


@pytest.mark.parametrize(
    ("typestr", "dtype"),
    [("|b1", "bool"), ("|u1", "u8"), ("|i1", "i8"), ("<f2", "f16"), ("<i8", "i64"), ("<u2", "bf16")],
)
def test_cuda_array_types(make: Make, driver: FakeDriver, typestr: str, dtype: str) -> None:
    assert seen(make, driver, CudaArray(4, 6, typestr=typestr), dtype) == (ADDRESS, 4, 6)


@pytest.mark.parametrize(
    ("interface", "sentence"),
    [
        ({"typestr": ">f4"}, "`x` holds >f4 and the kernel takes f32; convert it first"),
        ({"typestr": "<V2"}, "`x` holds <V2 and the kernel takes f32; convert it first"),
        (
            {"address": ADDRESS + 512},
            "`x` is in host memory, and the kernel needs it on a GPU; copy it there first",
        ),
        (
            {"typestr": "?"},
            "`x` cannot be read: its `__cuda_array_interface__` lacks what the protocol asks for",
        ),
    ],
)
def test_cuda_array_that_does_not_fit(
    make: Make, driver: FakeDriver, interface: dict[str, Any], sentence: str
) -> None:
    driver.pointer_devices[ADDRESS + 512] = None
    with pytest.raises(LaunchError) as refusal:
        make(params=[tensor("x", "m", "n", dtype="f32")])(CudaArray(4, 6, **interface))
    assert str(refusal.value) == f"`scale`: {sentence}"


def test_a_cuda_array_interface_that_fails_is_named(make: Make) -> None:
    class Broken:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("it is a view")

    with pytest.raises(LaunchError, match=r"`x` cannot be read: its `__cuda_array_interface__` fails"):
        make()(Broken())


def test_a_cuda_array_without_elements_may_be_nowhere(make: Make, driver: FakeDriver) -> None:
    make(params=[tensor("x", "m", "n", dtype="f32")])(CudaArray(0, 6, address=None))
    assert driver.launches == []


def test_numpy_is_told_to_go_to_the_gpu(make: Make) -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(LaunchError) as refusal:
        make(params=[tensor("x", "m", "n", dtype="f32")])(numpy.zeros((4, 6), numpy.float32))
    assert str(refusal.value) == (
        "`scale`: `x` is in host memory, and the kernel needs it on a GPU; copy it there first"
    )
