"""Numbers become the bytes that the kernel reads, rounded as the hardware rounds."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tsc.runtime.errors import LaunchError
from tsc.runtime.scalars import number, pack


def bf16_of(value: float) -> bytes:
    """The nearest bf16, found by comparing the two around a value."""
    (bits,) = (
        struct.unpack("<I", struct.pack("<f", value)) if math.isinf(value) or math.isnan(value) else (0,)
    )
    if bits:
        return struct.pack("<H", bits >> 16)
    magnitude = abs(value)
    low, high = 0, 0x7F80
    while high - low > 1:
        middle = (low + high) // 2
        if as_float(middle) <= magnitude:
            low = middle
        else:
            high = middle
    below, above = magnitude - as_float(low), as_float(high) - magnitude
    nearest = low if below < above or (below == above and low % 2 == 0) else high
    return struct.pack("<H", nearest | (0x8000 if math.copysign(1, value) < 0 else 0))


def as_float(bits: int) -> float:
    if bits == 0x7F80:
        return 2.0**128
    value: float = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return value


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-3.39e38, max_value=3.39e38))
@example(0.0)
@example(-0.0)
@example(1.00390625)
@example(1.01171875)
@example(2.0**-133)
@example(2.0**-134)
@example(2.0**-134 * 1.0000001)
@example(2.0**-126)
@example(2.0**-126 - 2.0**-135)
@example(1 + 2.0**-8 + 2.0**-40)
@example(5e-324)
def test_bf16_is_the_nearest(value: float) -> None:
    assert pack("bf16", value) == bf16_of(value)


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("bf16", math.inf, b"\x80\x7f"),
        ("bf16", -math.inf, b"\x80\xff"),
        ("bf16", math.nan, b"\xc0\x7f"),
        ("f16", 65519.0, b"\xff\x7b"),
        ("f32", 1, struct.pack("<f", 1.0)),
        ("f32", math.inf, struct.pack("<f", math.inf)),
        ("f64", 1e300, struct.pack("<d", 1e300)),
        ("i32", -(2**31), b"\x00\x00\x00\x80"),
        ("u32", 2**32 - 1, b"\xff" * 4),
        ("i64", -1, b"\xff" * 8),
        ("u64", 2**64 - 1, b"\xff" * 8),
        ("bool", True, b"\x01"),
        ("bool", False, b"\x00"),
    ],
)
def test_bytes(kind: str, value: float, wanted: bytes) -> None:
    assert pack(kind, value) == wanted


@pytest.mark.parametrize(
    ("dtype", "value", "sentence"),
    [
        ("f16", 65520.0, "`s` is 65520, and f16 holds up to 65504"),
        ("bf16", 3.4e38, "`s` is 3.4e+38, and bf16 holds up to 3.38953e+38"),
        ("f32", -3.5e38, "`s` is -3.5e+38, and f32 holds up to 3.40282e+38"),
        ("i8", 128, "`s` is 128, and i8 holds -128 to 127"),
        ("u8", -1, "`s` is -1, and u8 holds 0 to 255"),
        ("u32", -1, "`s` is -1, and u32 holds 0 to 4,294,967,295"),
        ("bool", 2, "`s` is `2` and the kernel takes a bool; pass `True` or `False`"),
        ("bool", 1.0, "`s` is `1.0` and the kernel takes a bool; pass `True` or `False`"),
        ("i32", "7", "`s` is `'7'` and the kernel takes i32; pass an integer"),
        ("f32", b"1", "`s` is `b'1'` and the kernel takes f32; pass a number"),
    ],
)
def test_what_does_not_fit_is_refused(dtype: str, value: object, sentence: str) -> None:
    with pytest.raises(LaunchError) as refusal:
        number("s", dtype, value)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("dtype", "largest"), [("f16", 65519.99), ("bf16", 3.389531389251535e38), ("f32", 3.4028234e38)]
)
def test_what_rounds_to_the_largest_is_taken(dtype: str, largest: float) -> None:
    assert number("s", dtype, largest) == largest
    assert math.isfinite(struct.unpack("<f", (b"\0\0" + pack("bf16", largest))[-4:])[0]) or dtype != "bf16"


def test_numpy_scalars_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert number("s", "f32", numpy.float32(0.5)) == 0.5
    assert number("s", "i32", numpy.int64(7)) == 7
    assert number("s", "bool", numpy.bool_(True)) is True
    for dtype, value in (("i32", numpy.float32(1)), ("i32", numpy.bool_(True)), ("f32", numpy.bool_(True))):
        with pytest.raises(LaunchError, match="and the kernel takes"):
            number("s", dtype, value)
    with pytest.raises(
        LaunchError, match=r"`s` is a scalar of type f32 and gets a tensor; pass a number, such as `x.item"
    ):
        number("s", "f32", numpy.zeros(()))
