"""activations.cuh: far closer to the functions than a bf16 is, from the smallest to infinity, and in few
instructions.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.codegen.gpu import launch
from tests.codegen.headers import compiled, includes, needs_cpp, run_cpp

FUNCTIONS = ("relu", "gelu", "silu")
ALMOST_NOTHING = 2.0**-119  # results below 2^-126 are flushed, and are then multiplied by what |x| may be


def exact(name: str, x: float) -> float:
    if math.isinf(x):
        return x if x > 0 else 0.0
    if name == "relu":
        return max(x, 0.0)
    if name == "gelu":
        return x * 0.5 * math.erfc(-x / math.sqrt(2))
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def float_of(bits: int) -> float:
    (x,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(x)


# Every 16-bit pattern as the upper half of a float, and odd values between two of them.
PATTERNS = [upper << 16 | lower for upper in range(0, 1 << 16, 7) for lower in (0, 0x5A5B)]


@needs_cpp
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str, tmp_path: Path) -> None:
    source = f"""
#include <cmath>
#include <cstdio>
{includes("activations")}
int main() {{
  u32 bits;
  while (std::scanf("%u", &bits) == 1)
    std::printf("%u ", __builtin_bit_cast(u32, {name}(__builtin_bit_cast(float, bits))));
}}
"""
    close(name, map(int, run_cpp(source, " ".join(map(str, PATTERNS)), tmp_path)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_on_gpu(name: str) -> None:
    source = f"""
{includes("activations")}
extern "C" __global__ void kernel(float* x) {{
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < {len(PATTERNS)}) x[i] = {name}(x[i]);
}}
"""
    packed = struct.pack(f"<{len(PATTERNS)}I", *PATTERNS)
    (data,) = launch(source, [packed], threads=128, blocks=-(-len(PATTERNS) // 128))
    close(name, struct.unpack(f"<{len(PATTERNS)}I", data))


def close(name: str, words: Iterable[int]) -> None:
    """Results for all patterns: not a number where the argument is none, else near what they should be."""
    worst = 0.0
    for bits, word in zip(PATTERNS, words, strict=True):
        x, got = float_of(bits), float_of(word)
        if math.isnan(x):
            assert math.isnan(got), hex(bits)
            continue
        expected = exact(name, x)
        if math.isinf(expected):
            assert got == expected
        elif abs(got - expected) > ALMOST_NOTHING:
            worst = max(worst, abs(got - expected) / abs(expected))
    # A bf16 is rounded by up to 2^-9 of its value.
    assert worst < 2.0**-14, worst


@pytest.mark.parametrize(("name", "most"), [("relu", 1), ("gelu", 16), ("silu", 6)])
def test_instructions(name: str, most: int) -> None:
    """How many a value costs beyond loading and storing it, in PTX."""
    kernel = 'extern "C" __global__ void kernel(float* x) {{ *x = {}(x[1]); }}\n'
    ours, none = (
        len(
            re.findall(
                r"^\t(?!mov)[a-z].*;$",
                compiled(includes("activations") + kernel.format(f), "sm_90a").ptx,
                re.M,
            )
        )
        for f in (name, "")
    )
    assert ours - none <= most
