"""layout.cuh: addresses of buffer elements against the hardware's rule on address bits."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

from tests.codegen.headers import includes, needs_cpp, run_cpp

BITS = {"float": 32, "bf16": 16, "e4m3": 8, "i4": 4, "i64": 64}
# Bits 4-6 of an address take part, each with the bit three above it.
MASKS = {0: 0, 32: 0x10, 64: 0x30, 128: 0x70}

BUFFERS: list[tuple[str, int, tuple[int, ...]]] = [
    ("float", 0, ()),
    ("bf16", 0, (7,)),
    ("bf16", 0, (3, 5, 4)),
    ("i4", 0, (3, 10)),
    ("i64", 0, (2, 3)),
    ("bf16", 128, (64,)),
    ("bf16", 128, (16, 64)),
    ("bf16", 128, (12, 192)),
    ("bf16", 64, (24, 32)),
    ("bf16", 64, (9, 96)),
    ("bf16", 32, (16, 16)),
    ("bf16", 32, (5, 48)),
    ("float", 128, (8, 64)),
    ("e4m3", 128, (2, 16, 256)),
    ("i4", 64, (8, 256)),
    ("e4m3", 32, (2, 3, 2, 2, 64)),
]


def reference(bits: int, swizzle: int, extents: tuple[int, ...], at: tuple[int, ...]) -> tuple[int, int]:
    """Byte and bit of an element: boxes of [rows x span] one after another, then the swizzle on addresses."""
    columns = extents[-1] if extents else 1
    rows = math.prod(extents) // columns
    row = 0
    for index, extent in zip(at[:-1], extents[:-1], strict=True):
        row = row * extent + index
    column = at[-1] if at else 0
    span = swizzle * 8 // bits or columns
    position = (column // span * rows + row) * span + column % span
    byte = position * bits // 8
    return byte ^ (byte >> 3 & MASKS[swizzle]), position * bits % 8


def loops(name: str, swizzle: int, extents: tuple[int, ...]) -> str:
    """C++ that prints byte and bit of all elements, and the buffer's size."""
    layout = f"Layout<{', '.join([name, str(swizzle), *map(str, extents)])}>"
    names = [f"i{dimension}" for dimension in range(len(extents))]
    heads = "".join(f"for (int {i} = 0; {i} < {n}; ++{i}) " for i, n in zip(names, extents, strict=True))
    return f"""
  {heads}{{
    const auto place = {layout}::place({", ".join(names)});
    std::printf("%u %u ", {layout}::byte(place), {layout}::bit(place));
  }}
  std::printf("%d ", static_cast<int>({layout}::bytes));"""


@needs_cpp
def test_elements_lie_where_tma_puts_them_and_fill_the_buffer(tmp_path: Path) -> None:
    body = "".join(loops(*buffer) for buffer in BUFFERS)
    source = "#include <cstdio>\n" + includes("layout") + f"int main() {{{body}\n}}\n"
    words = map(int, run_cpp(source, "", tmp_path))
    for name, swizzle, extents in BUFFERS:
        bits = BITS[name]
        found = [(next(words), next(words)) for _ in product(*map(range, extents))]
        expected = [reference(bits, swizzle, extents, at) for at in product(*map(range, extents))]
        assert found == expected, (name, swizzle, extents)
        size = next(words)
        assert size == (math.prod(extents) * bits + 7) // 8
        places = {byte * 8 + bit for byte, bit in found}
        assert len(places) == len(found)
        assert max(places) + bits <= size * 8
    assert next(words, None) is None


@needs_cpp
def test_addresses_are_known_at_build(tmp_path: Path) -> None:
    source = (
        includes("layout")
        + """
using Tile = Layout<bf16, 128, 64, 128>;
static_assert(Tile::byte(Tile::place(1, 8)) == 128 + (16 ^ 16));
static_assert(Tile::byte(Tile::place(0, 64)) == 64 * 128);
static_assert(Tile::extent(0) == 64 && Tile::extent(1) == 128 && Tile::bytes == 16384);
int main() {}
"""
    )
    assert run_cpp(source, "", tmp_path) == []
