"""matrix.cuh on the CPU: what its instructions move is emulated lane by lane, as the PTX ISA has it, so that
every element of a part is where it belongs, and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.codegen.headers import HEADERS, includes, needs_cpp, run_cpp

pytestmark = needs_cpp

# Calls are noted thread by thread. Stores take effect when all threads have run; loads run twice, the second
# time with the addresses that all lanes gave in the first.
EMULATION = """
struct Call { u32 at, r[4]; int count; bool trans; };
std::vector<Call> calls[128];
int round_[128];
bool second;
u16* element(u32 row, int column) { return shared_pointer<u16>(row + 2 * column); }
void store(u32 at, bool trans, int count, u32 a, u32 b, u32 c, u32 d) {
  calls[threadIdx.x].push_back({at, {a, b, c, d}, count, trans});
}
void apply_stores() {
  for (int t = 0; t < 128; ++t)
    for (u32 k = 0; k < calls[t].size(); ++k)
      for (int q = 0; q < calls[t][k].count; ++q) {
        if (t % 32 / 8 != q) continue;  // lanes 8 q to 8 q + 7 give the rows of matrix q
        for (int column = 0; column < 8; ++column) {
          const int row = t % 8, y = calls[t][k].trans ? column : row, x = calls[t][k].trans ? row : column;
          *element(calls[t][k].at, column) = calls[t / 32 * 32 + 4 * y + x / 2][k].r[q] >> x % 2 * 16;
        }
      }
}
void load(u32 at, bool trans, int count, u32** to) {
  const int t = threadIdx.x, lane = t % 32;
  if (!second) return calls[t].push_back({at, {}, count, trans});
  const int k = round_[t]++;
  for (int q = 0; q < count; ++q) {
    u32 word = 0;
    for (int half = 0; half < 2; ++half) {
      const int y = lane / 4, x = lane % 4 * 2 + half, row = trans ? x : y, column = trans ? y : x;
      word |= u32(*element(calls[t / 32 * 32 + 8 * q + row][k].at, column)) << half * 16;
    }
    *to[q] = word;
  }
}
"""


def stubs() -> str:
    """The names of the instructions, bound to their emulation."""
    text = []
    for count, trans in product((2, 4), (False, True)):
        name, flag = f"_x{count}{'_trans' if trans else ''}", str(trans).lower()
        registers = [f"r{i}" for i in range(count)]
        given = ", ".join([*registers, *["0"] * (4 - count)])
        text.append(
            f"void stmatrix{name}(u32 at, {', '.join(f'u32 {r}' for r in registers)}) "
            f"{{ store(at, {flag}, {count}, {given}); }}\n"
            f"void ldmatrix{name}(u32 at, {', '.join(f'u32& {r}' for r in registers)}) "
            f"{{ u32* to[] = {{{', '.join(f'&{r}' for r in registers)}}}; load(at, {flag}, {count}, to); }}"
        )
    return "\n".join(text)


def prelude() -> str:
    """The header with emulated instructions in the place of its own."""
    header = re.sub(r"^DEVICE void \w+_x\d\w*\(.*?^}\n", "", HEADERS["matrix.cuh"], flags=re.M | re.S)
    assert "asm" not in header
    return f"""
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
{EMULATION}
{stubs()}
{header.replace("#pragma once", "")}
"""


@dataclass(frozen=True)
class Part:
    """Rows and columns of a fragment of 128 by 72, from (row, column) on, at a place in a matrix."""

    row: int
    column: int
    rows: int
    columns: int
    at: tuple[int, int]
    shape: tuple[int, int]

    def extents(self, transposed: bool) -> tuple[int, int]:
        return self.shape[::-1] if transposed else self.shape


PARTS = [
    Part(0, 0, 64, 64, (0, 0), (64, 64)),
    Part(64, 8, 64, 32, (0, 0), (64, 32)),
    Part(0, 0, 128, 72, (64, 16), (192, 128)),
    Part(64, 64, 64, 8, (64, 32), (128, 64)),
    Part(0, 40, 128, 24, (0, 64), (128, 128)),
]


def case(part: Part, transposed: bool, swizzle: int, held: str) -> str:
    rows, columns = part.extents(transposed)
    place = part.at[::-1] if transposed else part.at
    form = (
        f"matrix{'_transposed' if transposed else ''}<{part.row}, {part.column}, {part.rows}, {part.columns}>"
    )
    inner = "column, row" if transposed else "row, column"
    return f"""
  {{
    const Buffer<bf16, {swizzle}, {rows}, {columns}> b{{1024}};
    std::memset(shared_memory, 0, sizeof shared_memory);
    for (auto& list : calls) list.clear();
    for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {{
      Fragment<{held}, 128, 72> f;
      for (int i = 0; i < f.size; ++i) f[i] = f.row(i) % 11 * 16 + f.col(i) % 13 + 1;
      store_{form}(b, f, {place[0]}, {place[1]});
    }}
    apply_stores();
    for (int row = 0; row < {part.shape[0]}; ++row)
      for (int column = 0; column < {part.shape[1]}; ++column)
        std::printf("%g ", static_cast<double>(b({inner})));
    int wrong = 0;
    for (auto& list : calls) list.clear();
    std::memset(round_, 0, sizeof round_);
    for (int time = 0; time < 2; ++time) {{
      second = time == 1;
      for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {{
        Fragment<bf16, 128, 72> f;
        for (int i = 0; i < f.size; ++i) f[i] = -1;
        load_{form}(f, b, {place[0]}, {place[1]});
        if (!second) continue;
        for (int i = 0; i < f.size; ++i) {{
          const int y = f.row(i) - {part.row}, x = f.col(i) - {part.column};
          const bool in = y >= 0 && y < {part.rows} && x >= 0 && x < {part.columns};
          wrong += f[i] != (in ? float(f.row(i) % 11 * 16 + f.col(i) % 13 + 1) : -1.f);
        }}
      }}
    }}
    std::printf("%d ", wrong);
  }}"""


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("held", ["float", "bf16"])
def test_matrices(transposed: bool, swizzle: int, held: str, tmp_path: Path) -> None:
    parts = [part for part in PARTS if not swizzle or part.extents(transposed)[1] * 2 % swizzle == 0]
    body = "".join(case(part, transposed, swizzle, held) for part in parts)
    flags = ("-O0", "-Wno-uninitialized", "-Wno-maybe-uninitialized")
    words = iter(map(float, run_cpp(f"{prelude()}\nint main() {{{body}\n}}", "", tmp_path, flags)))
    assert len(parts) > 2
    for part in parts:
        found = [next(words) for _ in range(part.shape[0] * part.shape[1])]
        expected = [0.0] * len(found)
        for row, column in product(range(part.rows), range(part.columns)):
            where = (row + part.at[0]) * part.shape[1] + column + part.at[1]
            expected[where] = (row + part.row) % 11 * 16 + (column + part.column) % 13 + 1
        assert found == expected, part
        assert next(words) == 0, part
    assert next(words, None) is None
