"""The conversion instructions agree with what the host tests ask of the same formats."""

from __future__ import annotations

import math
import struct

import pytest

from tests.codegen.gpu import launch
from tests.codegen.headers import includes
from tests.codegen.test_formats import FORMATS, bits_of, roundings

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", FORMATS)
def test_conversions(name: str) -> None:
    """All patterns and all neighbourhoods, one by one and by pairs, as on the host."""
    form = FORMATS[name]
    cases = list(roundings(form))
    patterns = 1 << form.bits
    source = (
        includes("elements")
        + f"""
using Format = Format{name};
extern "C" __global__ void kernel(const u32* from, u32* to, u32* to_pair, u32* read, u32* read_pair) {{
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < {len(cases)}; i += blockDim.x * gridDim.x) {{
    const float x = float_from_bits(from[i]);
    to[i] = Format::encode(x);
    to_pair[i] = Format::encode2(1.f, x) >> Format::bits;
  }}
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < {patterns}; i += blockDim.x * gridDim.x) {{
    float low, high;
    Format::decode2(i << Format::bits | 1, low, high);
    read[i] = bits_of_float(Format::decode(i | ~0u << Format::bits));
    read_pair[i] = bits_of_float(high);
  }}
}}
"""
    )
    blank, blank_read = bytes(4 * len(cases)), bytes(4 * patterns)
    arrays = [
        struct.pack(f"<{len(cases)}I", *(source for source, _ in cases)),
        blank,
        blank,
        blank_read,
        blank_read,
    ]
    _, to, to_pair, read, read_pair = launch(source, arrays, threads=256, blocks=64)
    for found in (to, to_pair):
        results = struct.unpack(f"<{len(cases)}I", found)
        wrong = [
            (hex(source), hex(target), hex(result))
            for (source, target), result in zip(cases, results, strict=True)
            if result != target
        ]
        assert wrong[:5] == []
    for found in (read, read_pair):
        for bits, value in enumerate(struct.unpack(f"<{patterns}f", found)):
            expected = form.decode(bits)
            same = math.isnan(value) if math.isnan(expected) else bits_of(value) == bits_of(expected)
            assert same, (hex(bits), value, expected)
