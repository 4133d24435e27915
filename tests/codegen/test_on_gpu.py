"""What only a GPU can say: its conversions, its swizzle, and that the views move elements to their places."""

from __future__ import annotations

import math
import random
import struct
from itertools import product

import pytest

from tests.codegen.gpu import Map, launch
from tests.codegen.headers import includes
from tests.codegen.test_formats import FORMATS, bits_of, roundings
from tests.codegen.test_layout import reference

pytestmark = pytest.mark.gpu


def words(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def halves(count: int) -> list[int]:
    return [value % 65521 for value in range(1, count + 1)]


def packed16(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def unpacked16(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 2}H", data))


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
    arrays = [words([source for source, _ in cases]), blank, blank, blank_read, blank_read]
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


# TMA writes to multiples of 128 bytes, so that is what an atom takes where there are several.
BOXES: list[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    # swizzle, extents of the tensor, extents of the buffer, coordinates
    (0, (1000,), (64,), (960,)),
    (0, (37, 72), (16, 32), (30, 48)),
    (128, (40, 200), (16, 64), (8, 64)),
    (128, (40, 200), (12, 192), (-4, 64)),
    (64, (30, 72), (24, 32), (10, 40)),
    (64, (30, 136), (10, 96), (25, -16)),
    (32, (30, 56), (12, 48), (3, 8)),
    (128, (5, 9, 136), (2, 8, 128), (4, 3, 8)),
    (32, (3, 4, 5, 40), (2, 3, 2, 32), (2, 2, 4, 16)),
    (128, (2, 3, 3, 4, 72), (2, 2, 2, 2, 64), (1, 1, 2, 3, 0)),
]

COPY = """
extern "C" __global__ void kernel(const __grid_constant__ TensorMap map, u16* raw, u16* seen, bf16* unused) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) u64 barrier_place;
  const u32 shared = shared_address(memory), barrier = shared_address(&barrier_place);
  const Task<64, 1> task(0);
  const Buffer<const bf16, SWIZZLE, EXTENTS> buffer{shared};
  if (task.leader()) {
    mbarrier_init(barrier, 1);
    mbarrier_init_fence();
    mbarrier_expect(barrier, buffer.bytes - 16);
    mbarrier_arrive_expect(barrier, 16);
    LOADS
  }
  task.sync();
  mbarrier_wait(barrier, 0);
  for (int i = task.thread; i < buffer.bytes / 2; i += 64) raw[i] = shared_pointer<u16>(shared)[i];
  if (task.thread == 0) {
    int k = 0;
    HEADS seen[k++] = bf16(buffer(NAMES)).bits;
  }
}
"""


@pytest.mark.parametrize(("swizzle", "extents", "box", "at"), BOXES)
def test_tma_writes_boxes_where_buffers_look(
    swizzle: int, extents: tuple[int, ...], box: tuple[int, ...], at: tuple[int, ...]
) -> None:
    """Byte by byte against the rule on addresses, and element by element through the view; outside is 0."""
    values = [value & 0x3FFF for value in halves(math.prod(extents))]
    rows, span = math.prod(box[:-1]), swizzle // 2 or box[-1]
    atoms = box[-1] // span
    coordinates = [", ".join(map(str, (at[-1] + atom * span, *at[-2::-1]))) for atom in range(atoms)]
    loads = " ".join(
        f"tma_load(shared + {atom * rows * span * 2}, map, barrier, {text});"
        for atom, text in enumerate(coordinates)
    )
    names = [f"i{dimension}" for dimension in range(len(box))]
    heads = " ".join(f"for (int {i} = 0; {i} < {n}; ++{i})" for i, n in zip(names, box, strict=True))
    source = includes("mbarrier", "registers", "threads", "tma_load") + (
        COPY.replace("SWIZZLE", str(swizzle))
        .replace("EXTENTS", ", ".join(map(str, box)))
        .replace("LOADS", loads)
        .replace("HEADS", heads)
        .replace("NAMES", ", ".join(names))
    )
    size = math.prod(box) * 2
    tensor_map = Map(2, "BFLOAT16", 2, extents, (*box[:-1], span), swizzle)
    arrays = [bytes(size), bytes(size), packed16(values)]
    raw, seen, _ = launch(source, arrays, threads=64, shared=size, maps=[tensor_map])

    expected = []
    for inside in product(*map(range, box)):
        place = 0
        for first, index, extent in zip(at, inside, extents, strict=True):
            outside = not 0 <= first + index < extent
            place = -1 if place < 0 or outside else place * extent + first + index
        expected.append(values[place] if place >= 0 else 0)
    assert unpacked16(seen) == expected
    written = unpacked16(raw)
    for inside, value in zip(product(*map(range, box)), expected, strict=True):
        byte, _ = reference(16, swizzle, box, inside)
        assert written[byte // 2] == value


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
