"""Narrow floats: every pattern is read, and values at, between and beside neighbours are rounded."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.codegen.headers import includes, needs_cpp, run_cpp


@dataclass(frozen=True)
class Format:
    """A sign, exponent and mantissa bits, and what the magnitudes above the largest finite one are."""

    exponent: int
    mantissa: int
    finite: int
    """magnitudes below this one are finite"""
    infinity: bool
    saturates: bool
    nan: int
    """what a value that is not a number becomes"""

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    def value(self, magnitude: int) -> float:
        bias = 2 ** (self.exponent - 1) - 1
        exponent, mantissa = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if magnitude >= self.finite:
            return math.inf if self.infinity and mantissa == 0 else math.nan
        if exponent == 0:
            return math.ldexp(mantissa, 1 - bias - self.mantissa)
        return math.ldexp((1 << self.mantissa) + mantissa, exponent - bias - self.mantissa)

    def decode(self, bits: int) -> float:
        value = self.value(bits & ((1 << (self.bits - 1)) - 1))
        return -value if bits >> (self.bits - 1) else value


FORMATS = {
    "Bf16": Format(8, 7, 0x7F80, True, False, 0x7FFF),
    "F16": Format(5, 10, 0x7C00, True, False, 0x7FFF),
    "E4m3": Format(4, 3, 0x7F, False, True, 0x7F),
    "E5m2": Format(5, 2, 0x7C, True, True, 0x7F),
    "E2m1": Format(2, 1, 8, False, True, 7),
}


def bits_of(value: float) -> int:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return int(bits)


def is_float(value: float) -> bool:
    return abs(value) < 3.4028236e38 and struct.unpack("<f", struct.pack("<f", value))[0] == value


def roundings(form: Format) -> Iterator[tuple[int, int]]:
    """Bits of a float, and of the format what it has to become."""
    sign = 1 << (form.bits - 1)
    for low in range(form.finite):
        value = form.value(low)
        # Past the largest comes what would be the next value, if there were one.
        step = value - form.value(low - 1) if low + 1 == form.finite else form.value(low + 1) - value
        high = (low if form.saturates else low + 1) if low + 1 == form.finite else low + 1
        middle = value + step / 2
        cases = [(bits_of(value), low)]
        if is_float(middle):
            at = bits_of(middle)
            cases += [(at - 1, low), (at, low if low % 2 == 0 else high), (at + 1, high)]
        else:
            cases += [(bits_of(value + step / 4), low)] if is_float(value + step / 4) else []
        for source, target in cases:
            yield source, target
            yield source | 1 << 31, target | sign
    limit = form.finite - 1 if form.saturates else form.finite
    for huge in (3e38, math.inf):
        if form.exponent < 8 or huge == math.inf:
            yield bits_of(huge), limit
            yield bits_of(-huge), limit | sign
    for nan in (0x7F800001, 0x7FC00000, 0xFFC00000, 0x7FFFFFFF):
        yield nan, form.nan
    yield 1, 0
    yield 0x80000001, sign


PROGRAM = (
    "#include <cstdio>\n"
    + includes("elements", "pieces")
    + """
int main() {
  u32 word;
  for (u32 bits = 0; bits < 1u << Format::bits; ++bits)
    std::printf("%x ", bits_of_float(Format::decode(bits | ~0u << Format::bits)));
  while (std::scanf("%x", &word) == 1) std::printf("%x ", Format::encode(float_from_bits(word)));
}
"""
)


@needs_cpp
@pytest.mark.parametrize("name", FORMATS)
def test_every_pattern_is_read_and_every_neighbourhood_rounded(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    cases = list(roundings(form))
    stdin = "\n".join(f"{source:x}" for source, _ in cases)
    words = run_cpp(PROGRAM.replace("Format", f"Format{name}"), stdin, tmp_path)
    count = 1 << form.bits
    for bits, word in enumerate(words[:count]):
        expected = form.decode(bits)
        found = struct.unpack("<f", bytes.fromhex(word.zfill(8))[::-1])[0]
        assert math.isnan(found) if math.isnan(expected) else bits_of(found) == bits_of(expected), hex(bits)
    wrong = [
        (hex(source), hex(target), word)
        for (source, target), word in zip(cases, words[count:], strict=True)
        if int(word, 16) != target
    ]
    assert wrong[:5] == []


@needs_cpp
def test_tf32_rounds_to_ten_mantissa_bits(tmp_path: Path) -> None:
    cases = [(0x3F800000, 0x3F800000), (0x3F800FFF, 0x3F800000), (0x3F801000, 0x3F800000)]
    cases += [(0x3F801001, 0x3F802000), (0x3F803000, 0x3F804000), (0xBF803000, 0xBF804000), (1, 0)]
    cases += [(0x7F7FFFFF, 0x7F800000), (0x7F800000, 0x7F800000), (0x7F800001, 0x7FFFFFFF)]
    source = PROGRAM[: PROGRAM.index("  for (")] + PROGRAM[PROGRAM.index("  while (") :]
    words = run_cpp(source.replace("Format", "FormatTf32"), "\n".join(f"{a:x}" for a, _ in cases), tmp_path)
    assert [int(word, 16) for word in words] == [target for _, target in cases]


@needs_cpp
def test_elements_convert_and_pack(tmp_path: Path) -> None:
    """What a view does with them: mixed arithmetic, packing into words, and integers' ranges."""
    source = (
        "#include <cstdio>\n"
        + includes("pieces")
        + """
template <class T, int BYTES, class D> void print(const D* values) {
  const Piece<BYTES> piece = pack<T, BYTES>(values);
  for (u32 word : piece.words) std::printf("%x ", word);
  D back[piece_elements<T, BYTES>];
  unpack<T>(piece, back);
  for (D value : back) std::printf("%g ", static_cast<double>(value));
}

int main() {
  bf16 b(1.f);
  b += 0.5f;
  b = b * b;
  const bool yes = b > 2.f;
  std::printf("%g %g %d ", yes ? b : 0.f, b + b, static_cast<int>(sizeof(e4m3)));
  const float four[] = {1.f, -2.5f, 0.5f, 300.f};
  print<bf16, 8>(four);
  print<bf16, 4>(four);
  print<bf16, 2>(four);
  print<f16, 8>(four);
  print<e4m3, 4>(four);
  print<e5m2, 4>(four);
  print<e2m1, 2>(four);
  print<e2m1, 1>(four);
  print<float, 16>(four);
  print<i8, 4>(four);
  print<u8, 4>(four);
  print<i4, 2>(four);
  print<i32, 16>(four);
  print<bool, 4>(four);
  const int eight[] = {1, -2, 7, -8, 0, 3, -1, 5};
  print<i4, 4>(eight);
  print<i64, 16>(eight);
  print<float, 8>(eight);
  const u32 huge[] = {0xffffffffu, 7};
  print<u32, 8>(huge);
  const bf16 same[] = {bf16(1.f), bf16(-2.f)};
  print<bf16, 4>(same);
}
"""
    )
    expected = """
        2.25 4.5 1
        c0203f80 43963f00 1 -2.5 0.5 300  c0203f80 1 -2.5  3f80 1
        c1003c00 5cb03800 1 -2.5 0.5 300  7930c238 1 -2.5 0.5 288  5d38c13c 1 -2.5 0.5 320
        71c2 1 -2 0.5 6  c2 1 -2
        3f800000 c0200000 3f000000 43960000 1 -2.5 0.5 300
        7f00fe01 1 -2 0 127  ff000001 1 0 0 255  70e1 1 -2 0 7  1 fffffffe 0 12c 1 -2 0 300  1010101 1 1 1 1
        5f3087e1 1 -2 7 -8 0 3 -1 5  1 0 fffffffe ffffffff 1 -2  3f800000 c0000000 1 -2
        ffffffff 7 4.29497e+09 7
        c0003f80 1 -2
    """
    assert run_cpp(source, "", tmp_path) == expected.split()
