"""The words that the tensor core of sm_100 is told, bit by bit against the tables of the PTX ISA."""

from __future__ import annotations

import pytest

from tsc.ops.descriptors import instruction_descriptor, matrix_descriptor


def field(word: int, first: int, last: int) -> int:
    """Bits `first` to `last` of a word, as the tables name them."""
    return word >> first & (1 << last - first + 1) - 1


# ---- matrices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("swizzle", "mode"), [(0, 0), (32, 6), (64, 4), (128, 2)])
def test_fields_of_a_matrix(swizzle: int, mode: int) -> None:
    word = matrix_descriptor(address=0x3400, leading=0x2000, stride=8 * swizzle, swizzle=swizzle)
    assert field(word, 0, 13) == 0x340
    assert field(word, 14, 15) == 0
    assert field(word, 16, 29) == 0x200
    assert field(word, 30, 31) == 0
    assert field(word, 32, 45) == swizzle // 2
    assert field(word, 46, 48) == 0b001
    assert field(word, 49, 51) == 0
    assert field(word, 52, 60) == 0
    assert field(word, 61, 63) == mode
    assert word < 1 << 64


def test_a_k_major_matrix_of_rows_of_128_bytes() -> None:
    assert matrix_descriptor(address=0, leading=16, stride=1024, swizzle=128) == 0x4000404000010000


def test_the_last_address_fits() -> None:
    word = matrix_descriptor(address=(1 << 18) - 16, leading=0, stride=0, swizzle=0)
    assert word == 0x3FFF | 1 << 46


@pytest.mark.parametrize("address", [8, -16, 1 << 18])
def test_an_address_without_a_place_is_refused(address: int) -> None:
    with pytest.raises(ValueError, match="address"):
        matrix_descriptor(address=address, leading=0, stride=0, swizzle=128)


@pytest.mark.parametrize("offset", ["leading", "stride"])
def test_an_offset_without_a_place_is_refused(offset: str) -> None:
    fields = {"address": 0, "leading": 0, "stride": 0, "swizzle": 128, offset: 1 << 18}
    with pytest.raises(ValueError, match=offset):
        matrix_descriptor(**fields)


# ---- instructions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "word"), [(256, 0x10400490), (128, 0x08400490)])
def test_the_values_that_are_worked_out_by_hand(m: int, word: int) -> None:
    assert instruction_descriptor(m=m, n=256, d="f32", a="bf16", b="bf16") == word


TYPES = [
    ("f16", "f16", 0, 0),
    ("bf16", "bf16", 1, 1),
    ("f16", "bf16", 0, 1),
    ("tf32", "tf32", 2, 2),
    ("e4m3", "e4m3", 0, 0),
    ("e4m3", "e5m2", 0, 1),
    ("e5m2", "e4m3", 1, 0),
    ("e2m1", "e5m2", 5, 1),
]


@pytest.mark.parametrize(("a", "b", "a_format", "b_format"), TYPES)
@pytest.mark.parametrize("m", [64, 128, 256])
@pytest.mark.parametrize("n", [8, 48, 256])
def test_fields_of_an_instruction(a: str, b: str, a_format: int, b_format: int, m: int, n: int) -> None:
    word = instruction_descriptor(m=m, n=n, d="f32", a=a, b=b)
    assert field(word, 0, 3) == 0  # dense, and not saturating
    assert field(word, 4, 5) == 1
    assert field(word, 6, 6) == 0
    assert field(word, 7, 9) == a_format
    assert field(word, 10, 12) == b_format
    assert field(word, 13, 16) == 0  # nothing negated, both K-major
    assert field(word, 17, 22) * 8 == n
    assert field(word, 23, 23) == 0
    assert field(word, 24, 28) * 16 == m
    assert field(word, 29, 31) == 0
    assert word < 1 << 32


@pytest.mark.parametrize(("a_mn", "b_mn"), [(False, True), (True, False), (True, True)])
def test_how_operands_lie(a_mn: bool, b_mn: bool) -> None:
    word = instruction_descriptor(m=128, n=128, d="f32", a="bf16", b="bf16", a_mn=a_mn, b_mn=b_mn)
    assert (field(word, 15, 15), field(word, 16, 16)) == (a_mn, b_mn)
    assert word & ~(0b11 << 15) == instruction_descriptor(m=128, n=128, d="f32", a="bf16", b="bf16")


def test_a_narrow_accumulator() -> None:
    word = instruction_descriptor(m=128, n=256, d="f16", a="f16", b="f16")
    assert word == 0x08400000


def test_types_that_no_instruction_takes_together_are_refused() -> None:
    with pytest.raises(ValueError, match="bf16 by e4m3"):
        instruction_descriptor(m=128, n=256, d="f32", a="bf16", b="e4m3")
