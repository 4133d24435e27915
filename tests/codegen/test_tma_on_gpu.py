"""TMA and bulk copies: boxes lie in shared memory where buffers look for their elements."""

from __future__ import annotations

import math
import struct
from itertools import product

import pytest

from tests.codegen.gpu import Map, halves, launch, packed16, unpacked16
from tests.codegen.headers import includes
from tests.codegen.test_layout import reference

pytestmark = pytest.mark.gpu

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
    (0, (37, 72), (16, 32), (30, 56)),
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
  }
  task.sync();
  if (task.leader()) {
    mbarrier_expect(barrier, buffer.bytes - 16);
    mbarrier_arrive_expect(barrier, 16);
    LOADS
  }
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


STORES = """
extern "C" __global__ void kernel(const __grid_constant__ TensorMap map, float* x, float* y, float* z) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) u64 barrier_place;
  const u32 shared = shared_address(memory), barrier = shared_address(&barrier_place);
  const Task<32, 0> task(0);
  const Buffer<float, 128, 2, 4, 32> tile{shared};
  if (task.leader()) {
    mbarrier_init(barrier, 1);
    mbarrier_init_fence();
  }
  for (int i = task.thread; i < 256; i += 32) tile(i / 128, i / 32 % 4, i % 32) = i;
  fence_proxy_async();
  task.sync();
  if (task.leader()) {
    tma_store<CACHE_EVICT_FIRST>(map, shared, 16, 3, 1);
    bulk_commit();
    bulk_wait<0>();
    tma_reduce<REDUCE_ADD>(map, shared, 16, 3, 1);
    bulk_commit();
    bulk_wait<0>();
    mbarrier_arrive_expect(barrier, 512);
    bulk_load(shared + 1024, y, 512, barrier);
    bulk_load(shared, y, 0, barrier);
    mbarrier_wait(barrier, 0);
    bulk_store(z, shared + 1024, 512);
    bulk_store(z, shared, 0);
    bulk_commit();
    bulk_wait_read<0>();
  }
}
"""


def test_stores_reductions_and_bulk_copies() -> None:
    """A box that hangs over three sides is stored once and added once; nothing outside is touched."""
    before = [0.25] * (2 * 5 * 40)
    row = [float(value) for value in range(1000, 1128)]
    tensor_map = Map(0, "FLOAT32", 4, (2, 5, 40), (2, 4, 32), 128)
    source = includes("buffer", "bulk", "fences", "mbarrier", "threads", "tma_store") + STORES
    arrays = [struct.pack("<400f", *before), struct.pack("<128f", *row), bytes(512)]
    x, _, z = launch(source, arrays, threads=32, shared=2048, maps=[tensor_map])
    for i, j, k in product(range(2), range(4), range(32)):
        if i == 0 and 3 + j < 5 and 16 + k < 40:
            before[(5 + 3 + j) * 40 + 16 + k] = 2.0 * (j * 32 + k)
    assert list(struct.unpack("<400f", x)) == before
    assert list(struct.unpack("<128f", z)) == row


ROWS = """
extern "C" __global__ void kernel(const __grid_constant__ TensorMap map, u16* unused) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const u32 shared = shared_address(memory);
  const Task<32, 0> task(0);
  for (int i = task.thread; i < 256; i += 32) shared_pointer<u16>(shared)[i] = 0x3F80;
  fence_proxy_async();
  task.sync();
  if (task.leader()) {
    STORE(map, shared, AT, 0);
    bulk_commit();
    bulk_wait<0>();
  }
}
"""


@pytest.mark.parametrize("store", ["tma_store<>", "tma_reduce<REDUCE_ADD>"])
@pytest.mark.parametrize(
    ("columns", "at"),
    [
        *((129, 128), (130, 64), (132, 128), (257, 256), (9, 0), (3, 0), (129, 96)),
        # Boxes begin at whole 16 bytes: others fault on an H200, so that no test can hold it.
        *((128, 64), (136, 128), (128, 72), (136, 120), (64, 8)),
    ],
)
def test_a_store_ends_at_whole_16_bytes_of_a_row(columns: int, at: int, store: str) -> None:
    """All that lies in the tensor is written, and behind it no more than what fills its last 16 bytes."""
    whole, one = -(-columns // 8) * 8, 0x3F80
    pitch = whole + 72
    tensor_map = Map(0, "BFLOAT16", 2, (3, columns), (4, 64), 0, pitch)
    source = includes("buffer", "bulk", "fences", "threads", "tma_store")
    source += ROWS.replace("STORE", store).replace("AT", str(at))
    (x,) = launch(source, [bytes(2 * 4 * pitch)], threads=32, shared=1024, maps=[tensor_map])
    found = unpacked16(x)
    for row in range(4):
        here = found[row * pitch : (row + 1) * pitch]
        reached = {column for column, value in enumerate(here) if value}
        assert {here[column] for column in reached} <= {one}
        inside = set(range(at, min(at + 64, columns))) if row < 3 else set()
        assert inside <= reached <= (set(range(at, min(at + 64, whole))) if row < 3 else set()), row
