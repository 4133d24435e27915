"""Strides, order and packing, as the kernel gets them."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.runtime.arrays import Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import tensor
from tsc.artifact.manifest import DTYPE_BITS
from tsc.runtime.dtypes import DTYPES
from tsc.runtime.errors import LaunchError


def strides(make: Make, driver: FakeDriver, given: Tensor, *shape: str, **more: Any) -> list[int]:
    """The strides that a kernel gets for `given`."""
    kernel = make(
        params=[tensor("x", *shape, **more)],
        arguments=[
            {"kind": "stride", "tensor": "x", "dim": index, "type": "i64"} for index in range(len(shape))
        ],
    )
    kernel(given)
    return [struct.unpack("<q", parameter)[0] for parameter in driver.launches[-1].parameters]


def test_strides_reach_the_kernel(make: Make, driver: FakeDriver) -> None:
    assert strides(make, driver, Tensor(4, 5, 6), "a", "b", "c") == [30, 6, 1]
    assert strides(make, driver, Tensor(4, 5, 6, strides=(80, 8, 1)), "a", "b", "c") == [80, 8, 1]


def test_the_contiguous_dimension_is_the_last_of_the_order(make: Make, driver: FakeDriver) -> None:
    assert strides(make, driver, Tensor(4, 6, strides=(1, 8)), "m", "n", order=[1, 0]) == [1, 8]
    with pytest.raises(LaunchError, match="`x` has stride 6 in dimension 0, which must be contiguous"):
        strides(make, driver, Tensor(4, 6), "m", "n", order=[1, 0])


@pytest.mark.parametrize(
    ("shape", "given", "kept"),
    [
        ((1, 250), (250, 1), [256, 1]),
        ((1, 250), (7, 1), [256, 1]),
        ((4, 1), (8, 77), [8, 1]),
        ((1, 1), (3, 9), [8, 1]),
        ((4, 250), (256, 1), [256, 1]),
    ],
)
def test_a_dimension_of_one_element_has_a_stride_that_fits(
    make: Make,
    driver: FakeDriver,
    shape: tuple[int, int],
    given: tuple[int, int],
    kept: list[int],
) -> None:
    assert strides(make, driver, Tensor(*shape, strides=given), "m", "n", stride_multiple=8) == kept


def test_packed_allows_no_gap(make: Make, driver: FakeDriver) -> None:
    assert strides(make, driver, Tensor(4, 1, 6), "a", "b", "c", packed=True) == [6, 6, 1]
    assert strides(make, driver, Tensor(4, 6, strides=(1, 4)), "m", "n", packed=True, order=[1, 0]) == [1, 4]
    with pytest.raises(LaunchError) as refusal:
        strides(make, driver, Tensor(4, 6, strides=(8, 1)), "m", "n", packed=True)
    assert str(refusal.value) == (
        "`scale`: `x` has stride 8 in dimension 0, and the kernel needs it without gaps (stride 6); pass a "
        "contiguous "
        "copy"
    )


def test_an_input_may_be_broadcast(make: Make, driver: FakeDriver) -> None:
    assert strides(make, driver, Tensor(4, 6, strides=(0, 1)), "m", "n") == [0, 1]


def test_one_value_has_no_strides(make: Make, driver: FakeDriver) -> None:
    assert strides(make, driver, Tensor()) == []


@pytest.mark.parametrize(
    ("dtype", "given"),
    [("e2m1", "float4_e2m1fn_x2"), ("e2m1", "uint8"), ("i4", "uint8"), ("i4", "int8"), ("u4", "uint8")],
)
def test_a_byte_holds_two_elements_of_four_bits(
    make: Make, driver: FakeDriver, dtype: str, given: str
) -> None:
    kernel = make(
        params=[tensor("x", "m", "n", dtype=dtype, stride_multiple=32)],
        arguments=[
            {"kind": "value", "expr": "m", "type": "i32"},
            {"kind": "value", "expr": "n", "type": "i32"},
            {"kind": "stride", "tensor": "x", "dim": 0, "type": "i32"},
        ],
    )
    kernel(Tensor(4, 24, strides=(32, 1), dtype=given))
    assert [int.from_bytes(each, "little") for each in driver.launches[0].parameters] == [4, 48, 64]


@pytest.mark.parametrize(
    ("dtype", "given", "taken"),
    [
        ("f32", "float32", True),
        ("tf32", "float32", True),
        ("f16", "float16", True),
        ("bf16", "bfloat16", True),
        ("bf16", "uint16", True),
        ("e4m3", "float8_e4m3fn", True),
        ("e4m3", "uint8", True),
        ("e5m2", "float8_e5m2", True),
        ("bool", "bool", True),
        ("i8", "int8", True),
        ("u8", "uint8", True),
        ("i32", "int32", True),
        ("u32", "uint32", True),
        ("i64", "int64", True),
        ("f64", "float64", True),
        ("e4m3", "float8_e5m2", False),
        ("e4m3", "float8_e4m3fnuz", False),
        ("u8", "int8", False),
        ("u32", "int32", False),
        ("f16", "uint16", False),
        ("f16", "bfloat16", False),
        ("bool", "uint8", False),
        ("i4", "int4", False),
    ],
)
def test_which_types_fit(make: Make, driver: FakeDriver, dtype: str, given: str, taken: bool) -> None:
    kernel = make(params=[tensor("x", "m", dtype=dtype)])
    if taken:
        kernel(Tensor(4, dtype=given))
    else:
        with pytest.raises(LaunchError, match=rf"`x` holds \w+ and the kernel takes {dtype}"):
            kernel(Tensor(4, dtype=given))
    assert len(driver.launches) == taken


def test_every_type_of_a_manifest_is_known() -> None:
    assert {name: dtype.bits for name, dtype in DTYPES.items()} == dict(DTYPE_BITS)
