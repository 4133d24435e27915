"""Views, registers and tasks on a GPU: elements come to their places, and nothing else is touched."""

from __future__ import annotations

import random
import struct
from itertools import product

import pytest

from tests.codegen.gpu import halves, launch, packed16, unpacked16
from tests.codegen.headers import includes
from tests.codegen.test_formats import bits_of

pytestmark = pytest.mark.gpu

TILES = """
extern "C" __global__ void kernel(const T* x, T* y) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const u32 shared = shared_address(memory);
  const Task<96, 1> task(0);
  const Tensor<const T, 2> from{x, {M, N}, {N, 1}};
  const Tensor<T, 2> to{y, {M, N}, {N, 1}};
  const Buffer<T, SWIZZLE, ROWS, COLUMNS> buffer{shared};
  const int row0 = blockIdx.x / ACROSS * ROWS, column0 = blockIdx.x % ACROSS * COLUMNS;
  cp_async_tile<PIECE, true>(task, buffer, from, row0, column0);
  cp_async_wait_all();
  task.sync();
  for (int i = task.thread; i < ROWS * COLUMNS / VALUES; i += task.threads) {
    const int row = i / (COLUMNS / VALUES), column = i % (COLUMNS / VALUES) * VALUES;
    Registers<T, VALUES> r;
    load_registers<false, true>(r, buffer, row, column);
    store_registers<true, ALIGNED>(to, r, row0 + row, column0 + column);
  }
}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "swizzle", "piece", "m", "n", "values"),
    [
        (16, 64, 128, 16, 50, 200, 8),
        (16, 96, 64, 16, 33, 96, 8),
        (24, 32, 0, 16, 24, 40, 4),
        (8, 64, 128, 4, 21, 70, 8),
        (8, 48, 32, 8, 9, 100, 2),
        (5, 32, 0, 4, 11, 34, 1),
    ],
)
def test_tiles_come_and_go_whole_with_ragged_ends(
    rows: int, columns: int, swizzle: int, piece: int, m: int, n: int, values: int
) -> None:
    """cp.async into a buffer, registers out of it into a tensor; all of that and nothing else is written."""
    data = halves(m * n)
    guard = [0xABCD] * 64
    across = -(-n // columns)
    names = {
        "T": "bf16",
        "M": m,
        "N": n,
        "SWIZZLE": swizzle,
        "ROWS": rows,
        "COLUMNS": columns,
        "ACROSS": across,
        "PIECE": piece,
        "VALUES": values,
    }
    constants = "".join(f"#define {name} {value}\n" for name, value in names.items())
    aligned = "true" if n % values == 0 else "false"
    source = includes("cp_async", "registers") + constants + TILES.replace("ALIGNED", aligned)
    blank = [0x7777] * (m * n) + guard
    _, out = launch(
        source,
        [packed16(data), packed16(blank)],
        threads=96,
        blocks=-(-m // rows) * across,
        shared=rows * columns * 2,
    )
    assert unpacked16(out) == data + guard


CLIPPED = """
extern "C" __global__ void kernel(const bf16* x, u16* y, u16* z) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const u32 shared = shared_address(memory);
  const Task<32, 0> task(0);
  const Tensor<const bf16, 3> from{x, {3, 7, 40}, {7 * 48, 48, 1}};
  const Buffer<bf16, 32, 2, 3, 16> cube{shared};
  const Buffer<bf16, 64, 4, 32> plane{shared + 1024};
  cp_async_tile<16, true>(task, cube, from, AT);
  cp_async_tile<16, true>(task, plane, from, AT);
  cp_async_commit();
  cp_async_wait<0>();
  task.sync();
  for (int i = task.thread; i < 96; i += 32) y[i] = cube(i / 48, i / 16 % 3, i % 16).bits;
  for (int i = task.thread; i < 128; i += 32) z[i] = plane(i / 32, i % 32).bits;
}
"""


@pytest.mark.parametrize("at", [(0, 0, 0), (1, 5, 32), (2, -1, 16), (-1, 2, -8), (0, 6, 40), (3, 0, 0)])
def test_tiles_are_clipped_in_every_dimension(at: tuple[int, int, int]) -> None:
    """Rows lie further apart than they are long; a buffer of lower rank covers the last dimensions."""
    data = halves(3 * 7 * 48)

    def element(*place: int) -> int:
        inside = all(0 <= index < extent for index, extent in zip(place, (3, 7, 40), strict=True))
        return data[(place[0] * 7 + place[1]) * 48 + place[2]] if inside else 0

    source = includes("cp_async") + CLIPPED.replace("AT", ", ".join(map(str, at)))
    _, cube, plane = launch(source, [packed16(data), bytes(192), bytes(256)], threads=32, shared=2048)
    a, b, c = at
    boxes = [element(a + i, b + j, c + k) for i, j, k in product(range(2), range(3), range(16))]
    assert unpacked16(cube) == boxes
    assert unpacked16(plane) == [element(a, b + j, c + k) for j, k in product(range(4), range(32))]


NEIGHBOURS = """
extern "C" __global__ void kernel(const int* at, const bf16* x, float* y, bf16* z) {
  const int i = threadIdx.x, row = at[3 * i], column = at[3 * i + 1], count = at[3 * i + 2];
  const Tensor<const bf16, 2> from{x, {9, 24}, {24, 1}};
  const Tensor<bf16, 3> to{z, {64, 2, 12}, {24, 12, 1}};
  Registers<float, 4> r;
  load_registers<true, ALIGNED, CACHE_NO_ALLOCATE>(r, from, row, column);
  for (int k = 0; k < 4; ++k) y[4 * i + k] = r[k];
  store_registers_leading<true, ALIGNED, CACHE_EVICT_FIRST>(to, r, count, i, row, column);
}
"""


@pytest.mark.parametrize("aligned", [True, False])
def test_registers_skip_what_lies_outside(aligned: bool) -> None:
    draw = random.Random(7)
    places = [(draw.randrange(-2, 11), draw.randrange(-8, 28), draw.randrange(-1, 6)) for _ in range(64)]
    places = [(row, column // 4 * 4 if aligned else column, count) for row, column, count in places]
    values = [float(value) for value in range(1, 9 * 24 + 1)]
    data = [bits_of(value) >> 16 for value in values]
    source = includes("registers") + NEIGHBOURS.replace("ALIGNED", str(aligned).lower())
    flat = [value for place in places for value in place]
    arrays = [struct.pack("<192i", *flat), packed16(data), bytes(1024), bytes(64 * 24 * 2)]
    _, _, loaded, stored = launch(source, arrays, threads=64)
    expected_loads: list[float] = []
    expected_stores = [0] * (64 * 24)
    for i, (row, column, count) in enumerate(places):
        found = [
            values[row * 24 + c] if 0 <= row < 9 and 0 <= c < 24 else 0.0 for c in range(column, column + 4)
        ]
        expected_loads += found
        for k in range(min(count, 4)):
            if 0 <= row < 2 and 0 <= column + k < 12:
                expected_stores[(i * 2 + row) * 12 + column + k] = bits_of(found[k]) >> 16
    assert list(struct.unpack("<256f", loaded)) == expected_loads
    assert unpacked16(stored) == expected_stores


def test_threads_write_the_halves_of_a_byte_side_by_side() -> None:
    values = random.Random(4).choices(range(-8, 8), k=4096)
    source = (
        includes("registers", "threads")
        + """
extern "C" __global__ void kernel(const int* x, u8* y, int* back) {
  extern __shared__ unsigned char memory[];
  const Tensor<i4, 2> to{y, {64, 64}, {64, 1}};
  const Buffer<i4, 0, 64, 64> buffer{shared_address(memory)};
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) buffer(i / 64, i % 64) = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) to(i / 64, i % 64) = buffer(i / 64, i % 64);
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) back[i] = to.at(i / 64, i % 64, 99);
}
"""
    )
    arrays = [struct.pack("<4096i", *values), bytes(2048), bytes(4 * 4096)]
    _, packed, back = launch(source, arrays, threads=256, shared=2048)
    assert list(struct.unpack("<4096i", back)) == values
    assert packed == bytes(
        (low & 15) | (high & 15) << 4 for low, high in zip(values[::2], values[1::2], strict=True)
    )


def test_task_reductions_leaders_and_rounds_to_integers() -> None:
    source = (
        includes("pieces", "threads")
        + """
extern "C" __global__ void kernel(int* out) {
  const Task<96, 1> task(1);
  if (threadIdx.x < 32) return;
  if (task.leader()) out[0] = task.thread;
  const int sum = task.warp_sum(task.thread), top = task.warp_max(-task.thread);
  const float mean = task.warp_sum(0.5f), largest = task.warp_max(task.thread * 0.25f);
  if (task.lane == 5) {
    out[1 + 4 * task.warp] = sum;
    out[2 + 4 * task.warp] = top;
    out[3 + 4 * task.warp] = mean == 16.f;
    out[4 + 4 * task.warp] = value_for<i32>(largest);
  }
  const float ties[] = {0.5f, 1.5f, -2.5f, 3e9f, -200.f};
  if (task.thread == 95)
    for (int i = 0; i < 5; ++i) {
      out[13 + i] = value_for<i32>(ties[i]);
      out[18 + i] = value_for<i8>(ties[i]);
      out[23 + i] = value_for<u4>(ties[i]);
    }
}
"""
    )
    (out,) = launch(source, [bytes(4 * 28)], threads=128)
    warps = [
        [sum(range(32 * warp, 32 * warp + 32)), -32 * warp, 1, round((32 * warp + 31) / 4)]
        for warp in range(3)
    ]
    expected = [0, *warps[0], *warps[1], *warps[2]]
    expected += [0, 2, -2, 2**31 - 1, -200, 0, 2, -2, 127, -128, 0, 2, 0, 15, 0]
    assert list(struct.unpack("<28i", out)) == expected
