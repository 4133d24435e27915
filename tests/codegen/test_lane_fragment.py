"""lane_fragment.cuh on the CPU, thread after thread: the layout of tcgen05.ld .32x32b, every value where it
belongs in tensors and buffers, and nothing else; and the banks that a warp's pieces of 16 bytes lie in.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from tests.codegen.headers import includes, needs_cpp, run_cpp
from tests.codegen.test_fragment_moves import (
    FLAGS,
    PLACES,
    SENTINEL,
    Part,
    Place,
    moved,
    offset,
    tensor,
    value,
)
from tests.codegen.test_fragment_moves import PRELUDE as MOVES

pytestmark = needs_cpp

PRELUDE = MOVES + includes("lane_fragment")
COLUMNS = 24  # of each of two warpgroups that share columns out


@pytest.mark.parametrize(("first", "by_columns"), [(0, False), (128, False), (256, True)])
def test_layout(first: int, by_columns: bool, tmp_path: Path) -> None:
    source = (
        PRELUDE
        + f"""
int main() {{
  for (threadIdx.x = 128; threadIdx.x < 256; ++threadIdx.x) {{
    LaneFragment<float, 16, {str(by_columns).lower()}> f({first});
    for (int i = 0; i < f.size; ++i) std::printf("%d %d %d ", f.row(i), f.col(i), f.slot(i));
    LaneFragment<float, 16> whole(f.row(0) - threadIdx.x % 128);
    std::printf("%g %g %d ", whole.row_sum(3.f + whole.row(0)), whole.row_max(2.f), int(f.slots));
  }}
}}
"""
    )
    words = iter(map(float, run_cpp(source, "", tmp_path, FLAGS)))
    row_first, column_first = (0, first) if by_columns else (first, 0)
    for thread in range(128):
        for i in range(16):
            assert [next(words) for _ in range(3)] == [thread + row_first, i + column_first, 0]
        assert [next(words) for _ in range(3)] == [3 + thread + row_first, 2, 1]
    assert next(words, None) is None


def inside(place: Place, row: int, column: int) -> bool:
    y, x = row + place.at[0], column + place.at[1]
    count = 128 if place.count is None else place.count
    return row < count and 0 <= y < place.extents[0] and 0 <= x < place.extents[1]


# Two warpgroups cover 48 columns; where all of it has to lie inside, the tensor is wider by as much.
WIDER = [
    replace(place, extents=(place.extents[0], place.extents[1] + 24), pitch=place.pitch + (24 * place.major))
    for place in PLACES
] + [Place((128, 64), (0, 0), 64), Place((128, 56), (0, 16), 64), Place((128, 62), (0, -2), 62, checked=2)]


def at_place(place: Place, dtype: str, rank: int) -> str:
    """C++ that stores a fragment, prints the memory, loads it again and prints how many values are wrong."""
    lead, planes = ("1, ", 2) if rank == 3 else ("", 1)
    at = f"{lead}{place.at[0]}, {place.at[1]}"
    leading, count = ("_leading", f"{place.count}, ") if place.count is not None else ("", "")
    return f"""
  {{
    std::vector<E> storage({planes * place.size + 8 + 16});
    struct {{ E* first; E* data() {{ return first; }} }} memory{{storage.data()}};
    while (reinterpret_cast<u64>(memory.first) % 16 != 0) ++memory.first;
    for (auto& x : storage) x = {int(SENTINEL)};
    {tensor(place, dtype, rank)}
    for (u32 t = 0; t < 256; ++t) {{
      threadIdx.x = t;
      F f(t / 128 * {COLUMNS});
      for (int i = 0; i < f.size; ++i) f[i] = (f.row(i) * 5 + f.col(i) * 3) % 8 + 1;
      store_fragment{leading}<{place.checked}>(view, f, {count}{at});
    }}
    for (int i = 0; i < {planes * place.size + 8}; ++i)
      std::printf("%g ", static_cast<double>(memory.first[i]));
    int wrong = 0;
    for (u32 t = 0; t < 256; ++t) {{
      threadIdx.x = t;
      F f(t / 128 * {COLUMNS});
      load_fragment<{place.checked}>(f, view, {at});
      for (int i = 0; i < f.size; ++i) {{
        const int y = f.row(i) + {place.at[0]}, x = f.col(i) + {place.at[1]};
        const bool in = y >= 0 && y < {place.extents[0]} && x >= 0 && x < {place.extents[1]};
        const double expected = in ? static_cast<double>(view({lead}y, x)) : 0;
        wrong += static_cast<double>(f[i]) != expected;
      }}
    }}
    std::printf("%d ", wrong);
  }}"""


@pytest.mark.parametrize(
    ("held", "dtype", "rank"),
    [("float", "float", 2), ("float", "bf16", 2), ("bf16", "bf16", 3), ("f16", "float", 2),
     ("float", "e4m3", 2), ("e4m3", "e4m3", 2), ("i32", "i64", 3), ("e5m2", "f16", 2)],
)  # fmt: skip
def test_tensors(held: str, dtype: str, rank: int, tmp_path: Path) -> None:
    source = (
        PRELUDE
        + f"""
using F = LaneFragment<{held}, {COLUMNS}, true>;
using E = {dtype};
int main() {{{"".join(at_place(place, dtype, rank) for place in WIDER)}
}}
"""
    )
    words = iter(map(float, run_cpp(source, "", tmp_path, FLAGS)))
    for place in WIDER:
        planes = 2 if rank == 3 else 1
        found = [next(words) for _ in range(planes * place.size + 8)]
        expected = [SENTINEL] * len(found)
        for row, column in product(range(128), range(2 * COLUMNS)):
            if inside(place, row, column):
                where = offset(place, row, column) + (place.size if rank == 3 else 0)
                expected[where] = value(row, column)
        assert found == expected, place
        assert next(words) == 0, place
    assert next(words, None) is None


PARTS = [
    Part(0, 0, 128, 32, (0, 0), (128, 32)),
    Part(0, 16, 128, 16, (0, 0), (128, 16)),
    Part(64, 8, 64, 16, (0, 0), (64, 16)),
    Part(0, 0, 128, 32, (64, 32), (192, 64)),
    Part(0, 0, 128, 32, (1, 7), (192, 64)),
    Part(0, 8, 128, 24, (0, 0), (128, 24)),
    Part(64, 16, 64, 8, (0, 0), (64, 8), transposed=True),
    Part(0, 0, 128, 32, (0, 32), (128, 64), transposed=True),
]


def together(part: Part, bits: int) -> int:
    """Values of 16 bytes, or fewer, that divide where the part begins, ends and how wide the buffer is."""
    count = 128 // bits
    while any(number % count for number in (part.at[1], part.columns, part.extents[1])):
        count //= 2
    return 1 if part.transposed else count


def of_part(part: Part, dtype: str, swizzle: int, bits: int) -> str:
    """A part of a fragment with a row a thread."""
    return moved(part, dtype, swizzle, str(together(part, bits)), "store_lanes", "load_lanes", 96)


@pytest.mark.parametrize(
    ("held", "dtype", "swizzle"),
    [("float", "bf16", 0), ("bf16", "bf16", 32), ("float", "bf16", 64), ("bf16", "bf16", 128),
     ("float", "float", 0), ("float", "float", 128), ("float", "e4m3", 0), ("e4m3", "e4m3", 64),
     ("float", "float", 32), ("i32", "i64", 0)],
)  # fmt: skip
def test_buffers(held: str, dtype: str, swizzle: int, tmp_path: Path) -> None:
    bits = {"bf16": 16, "float": 32, "e4m3": 8, "i64": 64}[dtype]
    parts = [part for part in PARTS if not swizzle or part.extents[1] * bits % (8 * swizzle) == 0]
    assert parts
    source = (
        PRELUDE
        + f"""
using F = LaneFragment<{held}, 32>;
int main() {{{"".join(of_part(part, dtype, swizzle, bits) for part in parts)}
}}
"""
    )
    words = iter(map(float, run_cpp(source, "", tmp_path, FLAGS)))
    for part in parts:
        found = [next(words) for _ in range(part.shape[0] * part.shape[1])]
        expected = [0.0] * len(found)
        for row, column in product(range(part.rows - 3), range(part.columns)):
            where = (row + part.at[0]) * part.shape[1] + column + part.at[1]
            expected[where] = value(row + part.row, column + part.column)
        assert found == expected, part
        assert next(words) == 0, part
    assert next(words, None) is None


@pytest.mark.parametrize(("columns", "swizzle"), [(64, 128), (32, 64), (16, 32), (128, 128)])
def test_banks(columns: int, swizzle: int, tmp_path: Path) -> None:
    """Eight threads that write 16 bytes at the same time fill all 32 banks of a swizzled buffer."""
    source = (
        PRELUDE
        + f"""
int main() {{
  const Buffer<bf16, {swizzle}, 128, {columns}> b{{1024}};
  for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x)
    each_lane_value<0, 0, 128, {columns}, false, 8>(b, 0, 0, 128, []<int N>(u32 address, int, bool) {{
      std::printf("%u ", address);
    }});
}}
"""
    )
    addresses = list(map(int, run_cpp(source, "", tmp_path, FLAGS)))
    pieces = columns // 8
    assert sorted(addresses) == [1024 + 16 * i for i in range(128 * pieces)]
    for first, piece in product(range(0, 128, 8), range(pieces)):
        places = {addresses[thread * pieces + piece] % 128 for thread in range(first, first + 8)}
        assert len(places) == 8


def test_conversions(tmp_path: Path) -> None:
    """Every pair of types, of values that need rounding: what one value alone would give."""
    types = ("float", "bf16", "f16", "e4m3", "e5m2", "tf32")
    pairs = [f"  wrong += converted<{a}, {b}>();" for a, b in product(types, types)]
    source = (
        PRELUDE
        + f"""
template <class A, class B> int converted() {{
  LaneFragment<A, 32> from;
  LaneFragment<B, 32> to;
  int wrong = 0;
  threadIdx.x = 37;
  for (int i = 0; i < from.size; ++i) from[i] = 0.37f * i - 1.7f;
  convert_fragment(to, from);
  for (int i = 0; i < from.size; ++i) {{
    const float expected = Element<B>::decode(Element<B>::encode(static_cast<float>(from[i])));
    wrong += static_cast<float>(to[i]) != expected;
  }}
  map_fragment(to, [](float x) {{ return -x; }});
  for (int i = 0; i < from.size; ++i)
    wrong += static_cast<float>(to[i]) != -Element<B>::decode(Element<B>::encode(float(from[i])));
  zero_fragment(to);
  for (int i = 0; i < from.size; ++i) wrong += static_cast<float>(to[i]) != 0;
  return wrong;
}}
int main() {{
  int wrong = 0;
{chr(10).join(pairs)}
  std::printf("%d", wrong);
}}
"""
    )
    assert run_cpp(source, "", tmp_path, FLAGS) == ["0"]


def test_the_bits_that_tensor_memory_holds(tmp_path: Path) -> None:
    """Two neighbours of 16 bits a column, the first one low."""
    source = (
        PRELUDE
        + """
int main() {
  LaneFragment<bf16, 16> f;
  threadIdx.x = 0;
  for (int i = 0; i < f.size; ++i) f[i] = i + 1;
  for (u32 word : f.words) std::printf("%u ", word);
}
"""
    )
    words = list(map(int, run_cpp(source, "", tmp_path, FLAGS)))

    def upper(x: int) -> int:
        return int(struct.unpack("<I", struct.pack("<f", float(x)))[0]) >> 16

    assert words == [upper(i + 2) << 16 | upper(i + 1) for i in range(0, 16, 2)]
