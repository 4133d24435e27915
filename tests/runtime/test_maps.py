"""Tensor maps: what the driver is asked to encode, how often, and what is said when it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from cuda.bindings import driver as bindings

from tests.runtime.arrays import ADDRESS, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import dim, tensor
from tsc.runtime.errors import LaunchError
from tsc.runtime.kernel import Kernel


def mapped(make: Make, *shape: str, box: list[int], **more: Any) -> Kernel:
    of_map = {name: more.pop(name) for name in ("swizzle", "l2", "fill") if name in more}
    return make(
        params=[tensor("x", *shape, **more)],
        arguments=[{"kind": "tensor_map", "map": 0}],
        tensor_maps=[{"tensor": "x", "box": box, "swizzle": 0, "l2": 128, "fill": "zero", **of_map}],
    )


def test_dimensions_go_from_the_contiguous_one_outward(make: Make, driver: FakeDriver) -> None:
    mapped(make, "a", "b", "c", box=[1, 8, 64])(Tensor(3, 5, 100, strides=(1000, 104, 1)))
    (encoded,) = driver.encoded
    assert encoded.rank == 3
    assert encoded.address == ADDRESS
    assert encoded.extents == [100, 5, 3]
    assert encoded.pitches == [208, 2000]
    assert encoded.box == [64, 8, 1]
    assert encoded.steps == [1, 1, 1]
    assert encoded.interleave == "CU_TENSOR_MAP_INTERLEAVE_NONE"


def test_the_order_decides_what_is_contiguous(make: Make, driver: FakeDriver) -> None:
    mapped(make, "m", "n", box=[16, 32], order=[1, 0])(Tensor(100, 7, strides=(1, 104)))
    (encoded,) = driver.encoded
    assert (encoded.extents, encoded.pitches, encoded.box) == ([100, 7], [208], [32, 16])


def test_one_dimension_gets_a_pitch_that_nobody_reads(make: Make, driver: FakeDriver) -> None:
    mapped(make, "n", box=[64])(Tensor(100))
    (encoded,) = driver.encoded
    assert (encoded.rank, encoded.extents, encoded.pitches) == (1, [100], [])


@pytest.mark.parametrize(
    ("dtype", "given", "name"),
    [
        ("bf16", "bfloat16", "BFLOAT16"),
        ("f16", "float16", "FLOAT16"),
        ("f32", "float32", "FLOAT32"),
        ("tf32", "float32", "TFLOAT32"),
        ("e4m3", "float8_e4m3fn", "UINT8"),
        ("bool", "bool", "UINT8"),
        ("i32", "int32", "INT32"),
        ("u32", "uint32", "UINT32"),
        ("i64", "int64", "INT64"),
    ],
)
def test_types(make: Make, driver: FakeDriver, dtype: str, given: str, name: str) -> None:
    mapped(make, "m", "n", box=[8, 8], dtype=dtype)(Tensor(64, 64, dtype=given))
    assert driver.encoded[0].data_type == name


def test_elements_of_four_bits(make: Make, driver: FakeDriver) -> None:
    mapped(make, "m", "n", box=[8, 64], dtype="e2m1")(Tensor(4, 64, dtype="uint8"))
    (encoded,) = driver.encoded
    assert (encoded.data_type, encoded.extents, encoded.pitches) == ("UINT8", [64, 4], [64])


@pytest.mark.parametrize(
    ("swizzle", "l2", "fill", "names"),
    [
        (0, 0, "zero", ("SWIZZLE_NONE", "L2_PROMOTION_NONE", "FLOAT_OOB_FILL_NONE")),
        (32, 64, "nan", ("SWIZZLE_32B", "L2_PROMOTION_L2_64B", "FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA")),
        (64, 128, "zero", ("SWIZZLE_64B", "L2_PROMOTION_L2_128B", "FLOAT_OOB_FILL_NONE")),
        (128, 256, "zero", ("SWIZZLE_128B", "L2_PROMOTION_L2_256B", "FLOAT_OOB_FILL_NONE")),
    ],
)
def test_options(
    make: Make, driver: FakeDriver, swizzle: int, l2: int, fill: str, names: tuple[str, ...]
) -> None:
    mapped(make, "m", "n", box=[8, 8], swizzle=swizzle, l2=l2, fill=fill)(Tensor(64, 64))
    (encoded,) = driver.encoded
    assert (encoded.swizzle, encoded.l2, encoded.fill) == tuple(f"CU_TENSOR_MAP_{name}" for name in names)


def test_a_map_is_encoded_once_for_each_tensor(make: Make, driver: FakeDriver) -> None:
    kernel = mapped(make, "m", "n", box=[8, 8])
    first, second = Tensor(64, 64), Tensor(64, 64, address=ADDRESS + 4096)
    for given in (first, second, first, second):
        kernel(given, stream=1)
    # Another stream is another launch of the same tensors.
    kernel(first, stream=2)
    assert len(driver.encoded) == 2
    used = [launched.parameters[0][0] for launched in driver.launches]
    assert used == [1, 2, 1, 2, 1]
    kernel(Tensor(32, 64))
    assert len(driver.encoded) == 3


def test_the_table_of_maps_is_bounded(make: Make, driver: FakeDriver) -> None:
    kernel = mapped(make, "m", "n", box=[8, 8])
    for index in range(1000):
        kernel(Tensor(64, 64, address=ADDRESS + 4096 * index))
    assert len(kernel._maps._encoded) == 512
    assert len(kernel._launches) == 256
    before = len(driver.encoded)
    kernel(Tensor(64, 64, address=ADDRESS + 4096 * 999))
    assert len(driver.encoded) == before
    kernel(Tensor(64, 64, address=ADDRESS))
    assert len(driver.encoded) == before + 1
    assert len(kernel._maps._encoded) == 512


def test_a_workspace_has_maps_too(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        workspace=[{"name": "w", "dtype": "f32", "shape": ["8", "m"], "zero": "never"}],
        arguments=[{"kind": "tensor_map", "map": 0}, {"kind": "pointer", "tensor": "w"}],
        tensor_maps=[{"tensor": "w", "box": [1, 32], "swizzle": 0, "l2": 128, "fill": "zero"}],
    )
    kernel(Tensor(64, 4))
    (encoded,) = driver.encoded
    assert encoded.address == int.from_bytes(driver.launches[0].parameters[1], "little")
    assert (encoded.extents, encoded.pitches) == ([64, 8], [256])


ZERO = {"min": 0, "max": 2**31 - 1, "multiple_of": 1, "runs_at_zero": True}


@pytest.mark.parametrize(("access", "memsets"), [("in", 1), ("out", 3)])
def test_a_tensor_without_elements_gets_a_map_of_zeros(
    make: Make, driver: FakeDriver, access: str, memsets: int
) -> None:
    kernel = make(
        params=[tensor("a", "m", "h", "k", access=access), tensor("d", "m", "8", dtype="f32")],
        dims={"m": dim(), "h": dim(), "k": ZERO},
        arguments=[{"kind": "tensor_map", "map": 0}, {"kind": "pointer", "tensor": "a"}],
        tensor_maps=[{"tensor": "a", "box": [1, 8, 64], "swizzle": 128, "l2": 128, "fill": "zero"}],
    )
    for _ in range(3):
        kernel(Tensor(4, 5, 0, address=0), Tensor(4, 8, dtype="float32"))
    (encoded,) = driver.encoded
    # 16 bytes of the loader's, since the driver makes no map of no elements.
    assert (encoded.extents, encoded.pitches, encoded.box) == ([8, 1, 1], [16, 16], [64, 8, 1])
    assert encoded.address not in (0, ADDRESS) and encoded.address % 16 == 0
    filled = driver.named("cuMemsetD8Async")
    assert [(pointer, value) for pointer, value, *_ in filled] == [(encoded.address, 0)] * memsets
    assert [launched.parameters[1] for launched in driver.launches] == [bytes(8)] * 3
    kernel.close()
    assert driver.freed == [encoded.address]


def test_a_tensor_without_elements_in_another_order(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[tensor("a", "k", "m", order=[1, 0], dtype="f32")],
        dims={"m": dim(), "k": ZERO},
        arguments=[{"kind": "tensor_map", "map": 0}],
        tensor_maps=[{"tensor": "a", "box": [8, 32], "swizzle": 0, "l2": 128, "fill": "zero"}],
    )
    kernel(Tensor(0, 4, address=0, dtype="float32"))
    kernel(Tensor(8, 4, strides=(1, 8), dtype="float32"))
    assert [(one.extents, one.pitches) for one in driver.encoded] == [([4, 1], [16]), ([8, 4], [32])]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            Tensor(64, 60),
            "`x` has a pitch of 120 B in dimension 0, and a tensor map needs a multiple of 16 B; pad it to "
            "128 B",
        ),
        (
            Tensor(64, 64, strides=(2**39, 1)),
            "`x` has a pitch of 1,099,511,627,776 B in dimension 0, and a tensor map holds "
            "less than 1,099,511,627,776 B",
        ),
        (
            Tensor(2**32 + 1, 64),
            "`x` has extent 4,294,967,297 in dimension 0, and a tensor map holds 4,294,967,296",
        ),
    ],
)
def test_what_no_map_can_hold_is_refused(
    make: Make, driver: FakeDriver, given: Tensor, sentence: str
) -> None:
    kernel = make(
        params=[tensor("x", "m", "n")],
        dims={name: {"min": 0, "max": 2**40, "multiple_of": 1} for name in "mn"},
        arguments=[{"kind": "tensor_map", "map": 0}],
        tensor_maps=[{"tensor": "x", "box": [8, 8], "swizzle": 0, "l2": 128, "fill": "zero"}],
    )
    with pytest.raises(LaunchError) as refusal:
        kernel(given)
    assert str(refusal.value) == f"`scale`: {sentence}"
    assert driver.encoded == []


def test_a_map_that_the_driver_refuses_is_described(make: Make, driver: FakeDriver) -> None:
    driver.failing["cuTensorMapEncodeTiled"] = bindings.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError) as refusal:
        mapped(make, "m", "n", box=[8, 256], swizzle=128)(Tensor(64, 64))
    assert str(refusal.value) == (
        "`scale`: `x` gets no tensor map (type bf16, extents [64, 64], pitches [128] B, box [256, 8], "
        "swizzle 128 B, "
        f"address {ADDRESS:#x}, contiguous dimension first): the driver fails to encode a tensor map with "
        "CUDA_ERROR_INVALID_VALUE: the driver refuses one of the launch facts"
    )
    assert driver.launches == []
