"""fragment.cuh and fragment_moves.cuh on the CPU, thread after thread: the layout against the formula of the
PTX ISA, and every value where it belongs, and nothing else, in tensors and buffers.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.codegen.headers import includes, needs_cpp, run_cpp

pytestmark = needs_cpp

# A thread at a time; nothing here is asked of another one.
PRELUDE = f"""
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>
{includes("types")}
struct {{ u32 x; }} threadIdx;
u32 atomicAnd(u32*, u32);
u32 atomicOr(u32*, u32);
template <class V> V __shfl_xor_sync(u32, V value, int) {{ return value; }}
alignas(1024) u8 shared_memory[1 << 17];
template <class T> T* shared_pointer(u32 address) {{ return reinterpret_cast<T*>(shared_memory + address); }}
{includes("fragment_moves")}
"""
SENTINEL = -80.0  # which every type here has, but those without a sign
# A value of a packed word leaves the others as they are, whatever they are.
FLAGS = ("-O0", "-Wno-uninitialized", "-Wno-maybe-uninitialized")


def owner(block: int, thread: int, j: int, r: int) -> tuple[int, int]:
    """Row and column of a value of wgmma's register fragment D (PTX ISA)."""
    warp, lane = thread // 32, thread % 32
    return 64 * block + 16 * warp + lane // 4 + 8 * (r // 2), 8 * j + 2 * (lane % 4) + r % 2


@pytest.mark.parametrize(("rows", "columns"), [(64, 8), (64, 64), (128, 24), (192, 256)])
@pytest.mark.parametrize("by_columns", [False, True])
def test_layout(rows: int, columns: int, by_columns: bool, tmp_path: Path) -> None:
    fragment = f"Fragment<float, {rows}, {columns}, {str(by_columns).lower()}>"
    source = (
        PRELUDE
        + f"""
int main() {{
  for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {{
    {fragment} f(1000);
    for (int i = 0; i < f.size; ++i) std::printf("%d %d %d ", f.row(i), f.col(i), f.slot(i));
  }}
}}
"""
    )
    words = iter(map(int, run_cpp(source, "", tmp_path, FLAGS)))
    seen = set()
    for thread, i in product(range(128), range(rows * columns // 128)):
        block, rest = divmod(i, columns // 2)
        row, column = owner(block, thread, rest // 4, rest % 4)
        seen.add((row, column))
        first = (0, 1000) if by_columns else (1000, 0)
        expected = (row + first[0], column + first[1], 2 * block + rest % 4 // 2)
        assert (next(words), next(words), next(words)) == expected
    assert len(seen) == rows * columns


@dataclass(frozen=True)
class Place:
    """A tensor of which a fragment covers a part: `at` its first element, `pitch` of the rows, the address
    `shift` elements behind one that is aligned.
    """

    extents: tuple[int, int]
    at: tuple[int, int]
    pitch: int
    shift: int = 0
    count: int | None = None
    major: int = 1
    checked: int = 1

    @property
    def size(self) -> int:
        return self.extents[1 - self.major] * self.pitch


ROWS, COLUMNS = 128, 24
PLACES = [
    Place((128, 24), (0, 0), 24, checked=0),
    Place((128, 24), (0, 0), 24, shift=1, checked=0),
    Place((300, 100), (64, 32), 100, checked=0),
    Place((100, 20), (0, 0), 20),
    Place((100, 21), (0, 0), 22),
    Place((100, 21), (0, 0), 21),
    Place((130, 49), (64, 24), 50, shift=3),
    Place((130, 49), (64, 24), 51, count=13),
    Place((200, 60), (8, 7), 60),
    Place((200, 60), (-5, -3), 60, checked=2),
    Place((200, 60), (-6, -4), 60, checked=2),
    Place((200, 60), (300, 0), 60),
    Place((128, 24), (0, 0), 128, major=0, checked=0),
    Place((100, 19), (0, 0), 101, major=0),
    Place((40, 30), (-3, 9), 40, major=0, checked=2, count=30),
]


def inside(place: Place, row: int, column: int) -> bool:
    y, x = row + place.at[0], column + place.at[1]
    count = ROWS if place.count is None else place.count
    return row < count and 0 <= y < place.extents[0] and 0 <= x < place.extents[1]


def offset(place: Place, row: int, column: int) -> int:
    y, x = row + place.at[0], column + place.at[1]
    return place.shift + (y * place.pitch + x if place.major else x * place.pitch + y)


def value(row: int, column: int) -> float:
    """Whole numbers that every type here has, many of them different in a row and in a column."""
    return float((row * 5 + column * 3) % 8 + 1)


def tensor(place: Place, dtype: str, rank: int) -> str:
    """A view of `memory`, with a leading dimension of two where the rank is three."""
    lead = "2, " if rank == 3 else ""
    plane = f"{place.size}, " if rank == 3 else ""
    strides = f"{place.pitch}, 1" if place.major else f"1, {place.pitch}"
    major = rank - 2 + place.major
    return (
        f"Tensor<{dtype}, {rank}, {major}> view{{memory.data() + {place.shift}, "
        f"{{{lead}{place.extents[0]}, {place.extents[1]}}}, {{{plane}{strides}}}}};"
    )


def at_place(place: Place, dtype: str, rank: int) -> str:
    """C++ that stores a fragment, prints the memory, loads it again and prints how many values are wrong."""
    lead, planes = ("1, ", 2) if rank == 3 else ("", 1)
    at = f"{lead}{place.at[0]}, {place.at[1]}"
    leading, count = ("_leading", f"{place.count}, ") if place.count is not None else ("", "")
    return f"""
  {{
    std::vector<E> memory({planes * place.size + 8});
    for (auto& x : memory) x = {int(SENTINEL)};
    {tensor(place, dtype, rank)}
    for (u32 t = 0; t < 256; ++t) {{
      threadIdx.x = t;
      F f(t / 128 * 64);
      for (int i = 0; i < f.size; ++i) f[i] = (f.row(i) * 5 + f.col(i) * 3) % 8 + 1;
      store_fragment{leading}<{place.checked}>(view, f, {count}{at});
    }}
    for (auto& x : memory) std::printf("%g ", static_cast<double>(x));
    int wrong = 0;
    for (u32 t = 0; t < 256; ++t) {{
      threadIdx.x = t;
      F f(t / 128 * 64);
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
using F = Fragment<{held}, 64, {COLUMNS}>;
using E = {dtype};
int main() {{{"".join(at_place(place, dtype, rank) for place in PLACES)}
}}
"""
    )
    words = iter(map(float, run_cpp(source, "", tmp_path, FLAGS)))
    for place in PLACES:
        planes = 2 if rank == 3 else 1
        found = [next(words) for _ in range(planes * place.size + 8)]
        expected = [SENTINEL] * len(found)
        for row, column in product(range(ROWS), range(COLUMNS)):
            if inside(place, row, column):
                where = offset(place, row, column) + (place.size if rank == 3 else 0)
                expected[where] = value(row, column)
        assert found == expected, place
        assert next(words) == 0, place
    assert next(words, None) is None


@dataclass(frozen=True)
class Part:
    """Rows and columns of a fragment, from (row, column) on, at a place in a matrix of a shape."""

    row: int
    column: int
    rows: int
    columns: int
    at: tuple[int, int]
    shape: tuple[int, int]
    transposed: bool = False

    @property
    def extents(self) -> tuple[int, int]:
        return self.shape[::-1] if self.transposed else self.shape


PARTS = [
    Part(0, 0, 64, 32, (0, 0), (64, 32)),
    Part(64, 8, 64, 16, (0, 0), (64, 16)),
    Part(0, 0, 128, 32, (64, 32), (192, 64)),
    Part(0, 0, 128, 32, (1, 7), (192, 64)),
    Part(64, 16, 64, 8, (0, 0), (64, 8), transposed=True),
    Part(0, 0, 128, 32, (0, 32), (128, 64), transposed=True),
]


def moved(part: Part, dtype: str, swizzle: int, together: str, store: str, load: str, unwritten: int) -> str:
    """C++ that stores a part but its last three rows, prints the matrix, loads it again and counts."""
    flags = f"{str(part.transposed).lower()}, {together}"
    parts = f"{part.row}, {part.column}, {part.rows}, {part.columns}, {flags}"
    inner = "column, row" if part.transposed else "row, column"
    return f"""
  {{
    const Buffer<{dtype}, {swizzle}, {part.extents[0]}, {part.extents[1]}> b{{1024}};
    std::memset(shared_memory, 0, sizeof shared_memory);
    for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {{
      F f;
      for (int i = 0; i < f.size; ++i) f[i] = (f.row(i) * 5 + f.col(i) * 3) % 8 + 1;
      {store}<{parts}>(b, f, {part.at[0]}, {part.at[1]}, {part.at[0] + part.rows - 3});
    }}
    for (int row = 0; row < {part.shape[0]}; ++row)
      for (int column = 0; column < {part.shape[1]}; ++column)
        std::printf("%g ", static_cast<double>(b({inner})));
    int wrong = 0;
    for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {{
      F f;
      for (int i = 0; i < f.size; ++i) f[i] = {unwritten};
      {load}<{parts}>(f, b, {part.at[0]}, {part.at[1]});
      for (int i = 0; i < f.size; ++i) {{
        const int row = f.row(i) - {part.row}, column = f.col(i) - {part.column};
        const bool in = row >= 0 && row < {part.rows} && column >= 0 && column < {part.columns};
        const auto stored = [&](int row, int column) {{ return static_cast<double>(b({inner})); }};
        wrong += f[i] != (in ? stored(row + {part.at[0]}, column + {part.at[1]}) : {unwritten});
      }}
    }}
    std::printf("%d ", wrong);
  }}"""


def of_part(part: Part, dtype: str, swizzle: int) -> str:
    """A part of a fragment as products lay it out, pairs together where they lie so."""
    aligned = not part.transposed and part.at[1] % 8 == 0
    return moved(part, dtype, swizzle, str(aligned).lower(), "store_part", "load_part", 99)


@pytest.mark.parametrize(
    ("dtype", "swizzle"),
    [("bf16", 0), ("bf16", 32), ("bf16", 64), ("bf16", 128), ("float", 0), ("float", 128), ("e4m3", 0),
     ("e4m3", 64), ("float", 32), ("i64", 0)],
)  # fmt: skip
def test_buffers(dtype: str, swizzle: int, tmp_path: Path) -> None:
    bits = {"bf16": 16, "float": 32, "e4m3": 8, "i64": 64}[dtype]
    parts = [part for part in PARTS if not swizzle or part.extents[1] * bits % (8 * swizzle) == 0]
    source = (
        PRELUDE
        + f"""
using F = Fragment<{"i32" if dtype == "i64" else "float"}, 128, 32>;
int main() {{{"".join(of_part(part, dtype, swizzle) for part in parts)}
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


def test_conversions(tmp_path: Path) -> None:
    """Every pair of types, of values that need rounding: what one value alone would give."""
    types = ("float", "bf16", "f16", "e4m3", "e5m2", "tf32")
    pairs = [f"  wrong += converted<{a}, {b}>();" for a, b in product(types, types)]
    source = (
        PRELUDE
        + f"""
template <class A, class B> int converted() {{
  Fragment<A, 64, 32> from;
  Fragment<B, 64, 32> to;
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


def test_the_bits_that_wgmma_takes(tmp_path: Path) -> None:
    """Two neighbours of 16 bits a word, the first one low."""
    source = (
        PRELUDE
        + """
int main() {
  Fragment<bf16, 64, 16> f;
  threadIdx.x = 0;
  for (int i = 0; i < f.size; ++i) f[i] = i + 1;
  for (u32 word : f.words) std::printf("%u ", word);
}
"""
    )
    words = list(map(int, run_cpp(source, "", tmp_path, FLAGS)))

    def upper(x: int) -> int:
        return int(struct.unpack("<I", struct.pack("<f", float(x)))[0]) >> 16

    assert words == [upper(i + 2) << 16 | upper(i + 1) for i in range(0, 8, 2)]
