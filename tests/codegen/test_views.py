"""Views and registers: the accesses that they become, without local memory, and what they refuse."""

from __future__ import annotations

import re

import pytest

from tests.codegen.headers import ARCHS, HEADERS, compiled, includes, notes
from tsc.toolchain.nvrtc import Rejected, compile_cuda

ALL = includes("cp_async", "registers", "threads")
PARAMETERS = (
    "bf16* x, const bf16* c, float* f, u8* q, i64 m, i64 n, i64 stride, u32 s, int i, int j, "
    "float* out, int* whole"
)
SETUP = """
  [[maybe_unused]] const Tensor<bf16, 2> y{x, {m, n}, {stride, 1}};
  [[maybe_unused]] const Tensor<const bf16, 2> xs{c, {m, n}, {stride, 1}};
  [[maybe_unused]] const Tensor<float, 1> w{f, {n}, {1}};
  [[maybe_unused]] const Tensor<i4, 2> packed{q, {m, n}, {stride, 1}};
  [[maybe_unused]] const Buffer<bf16, 128, 64, 128> tile{s};
  [[maybe_unused]] const Buffer<float, 0, 32> row{s + 16384};
  [[maybe_unused]] const Buffer<const e4m3, 0, 4, 16> small{s + 20480};
"""


def source_of(body: str) -> str:
    return f'{ALL}extern "C" __global__ void kernel({PARAMETERS}) {{{SETUP}{body}\n}}\n'


def ptx_of(body: str, arch: str = "sm_90a") -> str:
    result = compiled(source_of(body), arch)
    assert notes(result.log) == []
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in result.log
    assert ".local" not in result.ptx
    return result.ptx


def accesses(ptx: str, space: str) -> list[str]:
    """The loads and stores of a space, without type and operands' names."""
    found = re.findall(rf"\b(ld|st)\.{space}((?:\.[\w:]+)*)", ptx)
    return [kind + re.sub(r"\.[usbf](\d+)", r".\1", rest) for kind, rest in found]


EVERYTHING = """
  const Task<128, 1> task(0);
  float v[8];
  xs.load<8>(v, i, j);
  tile.load<8>(v, i, j);
  v[0] += xs(i, j) + y(i, j) + w(j) + w[j] + tile(i, j) + small(i, j) + packed(i, j) + xs.at(i, j, 0.f);
  v[1] += static_cast<float>(xs.extent(1)) + row.extent(0) + packed.at(i, j, 7);
  v[1] += *xs.ptr(i, j) + row.ptr()[3];
  y(i, j) = v[0];
  y(i, j) += 2;
  y(i, j) = xs(i, j);
  y(i, j) = y(j, i);
  packed(i, j) = 3;
  packed(i, j) += 1;
  packed(i, j) = packed(j, i);
  tile(i, j) = v[1];
  tile(i, j) *= 0.5f;
  row(j) -= 1.f;
  y.store<8>(v, i, j);
  tile.store<8>(v, i, j);
  w.store<3>(v, j);
  packed.store<8>(v, i, j);
  tile.store_bits(tile.load_bits<Piece<16>>(i, j), j, i);
  tile.store_bits(tile.load_bits<u64>(i, j), j, i);
  tile.store_bits(tile.load_bits<u32>(i, j), j, i);
  Registers<float, 8> r;
  Registers<bf16, 8> b;
  Registers<e2m1, 8> t;
  zero_registers(r);
  load_registers<true, true>(r, xs, i, j);
  load_registers<false, false, CACHE_NO_ALLOCATE>(b, y, i, j);
  convert_registers(t, b);
  load_registers<true, true>(b, tile, i, j);
  store_registers<true, true, CACHE_EVICT_LAST>(y, r, i, j);
  store_registers_leading<true, false>(w, b, m, j);
  store_registers<true, false>(tile, t, i, j);
  store_registers_leading<false, true>(tile, r, i, i, j);
  store_registers<true, false>(packed, r, i, j);
  cp_async_tile<16, true>(task, tile, xs, i, j);
  cp_async_tile<16, false, CACHE_EVICT_FIRST>(task, row, w, j);
  cp_async_tile<4, true>(task, row, w, j);
  out[0] = v[2] + b[0] + t[1] + r[b.size - 1];
"""


@pytest.mark.parametrize("arch", ARCHS)
def test_everything_together_stays_in_registers(arch: str) -> None:
    ptx_of(EVERYTHING, arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_neighbours_move_sixteen_bytes_at_a_time(arch: str) -> None:
    body = "float v[16]; xs.load<16>(v, i, j); tile.store<16>(v, i, j); row.load<8>(out, j);"
    ptx = ptx_of(body, arch)
    assert accesses(ptx, "global") == ["ld.v4.32", "ld.v4.32"] + ["st.32"] * 8
    assert accesses(ptx, "shared") == ["st.v4.32"] * 2 + ["ld.v4.32"] * 2
    assert len(re.findall(r"cvt\.rn\.bf16x2\.f32", ptx)) == 8


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("xs.load<1>(out, i, j);", "ld.16"),
        ("xs.load<2>(out, i, j);", "ld.32"),
        ("xs.load<4>(out, i, j);", "ld.v2.32"),
        (
            "float v[8]; xs.load<8, CACHE_EVICT_FIRST>(v, i, j); out[0] = v[5];",
            "ld.L1::evict_first.L2::cache_hint.v4.32",
        ),
        ("xs.load<4, CACHE_EVICT_LAST>(out, i, j);", "ld.L1::evict_last.L2::cache_hint.v2.32"),
        ("xs.load<2, CACHE_NO_ALLOCATE>(out, i, j);", "ld.L1::no_allocate.L2::cache_hint.32"),
        ("xs.load<1, CACHE_READ_ONLY>(out, i, j);", "ld.nc.L2::cache_hint.16"),
        (
            "xs.load<2, CACHE_READ_ONLY + CACHE_NO_ALLOCATE>(out, i, j);",
            "ld.nc.L1::no_allocate.L2::cache_hint.32",
        ),
        ("packed.load<2, CACHE_EVICT_FIRST>(whole, i, j);", "ld.L1::evict_first.L2::cache_hint.8"),
        (
            "float v[8] = {}; y.store<8, CACHE_EVICT_FIRST>(v, i, j);",
            "st.L1::evict_first.L2::cache_hint.v4.32",
        ),
        ("float v[4] = {}; y.store<4, CACHE_EVICT_LAST>(v, i, j);", "st.L1::evict_last.L2::cache_hint.v2.32"),
        ("float v[1] = {}; y.store<1, CACHE_NO_ALLOCATE>(v, i, j);", "st.L1::no_allocate.L2::cache_hint.16"),
    ],
)
def test_sizes_and_hints(body: str, expected: str) -> None:
    assert accesses(ptx_of(body), "global")[0] == expected


def test_a_checked_access_has_a_whole_and_a_ragged_way() -> None:
    body = """
  Registers<float, 8> r;
  load_registers<true, true>(r, xs, i, j);
  store_registers<true, true>(y, r, j, i);
"""
    found = accesses(ptx_of(body), "global")
    assert found.count("ld.v4.32") == found.count("st.v4.32") == 1
    assert found.count("ld.16") == found.count("st.16") == 8
    found = accesses(ptx_of(body.replace("true, true", "false, true")), "global")
    assert found == ["ld.v4.32", "st.v4.32"]


def test_a_tile_of_whole_rounds_is_copied_without_a_branch() -> None:
    body = "const Task<128, 1> task(0); cp_async_tile<16, false>(task, tile, xs, i, j);"
    ptx = ptx_of(body)
    assert ptx.count("cp.async.cg.shared.global") == 64 * 128 * 2 // 16 // 128
    assert "setp" not in ptx
    assert "div." not in ptx and "rem." not in ptx


def test_read_only_loads_do_not_wait_for_stores() -> None:
    """Nothing of the front end keeps them: the asm has no memory clobber."""
    body = """
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    float v[8];
    xs.load<8, CACHE_READ_ONLY>(v, i, j + 1024 * k);
    y.store<8>(v, i, j + 1024 * k);
  }"""
    assert accesses(ptx_of(body), "global").count("ld.nc.L2::cache_hint.v4.32") == 4


@pytest.mark.parametrize(
    "body",
    [
        "xs(i, j) = 1.f;",
        "xs(i, j) += 1.f;",
        "*xs.ptr(i, j) = bf16(1.f);",
        "small(i, j) = 1.f;",
        "const Tensor<const i4, 1> p{q, {n}, {1}}; p(i) = 1;",
        "const Buffer<const i4, 0, 8> p{s}; p(i) = 1;",
        "const Tensor<const float, 1> p{f, {n}, {1}}; p[i] = 1;",
    ],
)
def test_what_a_work_only_reads_cannot_be_written(body: str) -> None:
    with pytest.raises(Rejected) as rejected:
        compile_cuda(source_of(body), arch="sm_90a", headers=HEADERS)
    assert re.search(r"must be a modifiable lvalue|no operator|not allowed", rejected.value.log)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "float v[8]; xs.store<8>(v, i, j);",
            "the work that stores here lists the tensor in `writes` or `updates`",
        ),
        (
            "float v[8]; small.store<8>(v, i, j);",
            "the work that stores here lists the buffer in `writes` or `updates`",
        ),
        (
            "small.store_bits(7u, i, j);",
            "the work that stores here lists the buffer in `writes` or `updates`",
        ),
        ("out[0] = xs(i);", "a tensor takes as many coordinates as it has dimensions"),
        ("out[0] = xs.at(i, j);", "`at` takes the coordinates and the value outside of the tensor"),
        ("out[0] = tile(i);", "a buffer takes as many coordinates as it has dimensions"),
        ("out[0] = *tile.ptr();", "a swizzled buffer has no order of its own: use load_bits and store_bits"),
        ("int v[3]; packed.load<3>(v, i, j);", "two packed elements share a byte and move together"),
        ("tile.load_bits<u16>(i, j);", "raw accesses have 4, 8 or 16 bytes"),
        (
            "Buffer<bf16, 128, 8, 48> b{s}; b(i, j) = 0;",
            "the last dimension is a multiple of the swizzle span",
        ),
        ("Buffer<bf16, 16, 8, 64> b{s}; b(i, j) = 0;", "a swizzle is 0, 32, 64 or 128 bytes"),
        ("cp_async<2>(s, c);", "cp.async copies 4, 8 or 16 bytes"),
        (
            "cp_async_tile<16, true>(Task<32, 0>(0), row, xs, i, j);",
            "cp.async changes no element type",
        ),
    ],
)
def test_refusals_say_what_is_wrong(body: str, message: str) -> None:
    with pytest.raises(Rejected) as rejected:
        compile_cuda(source_of(body), arch="sm_90a", headers=HEADERS)
    assert message in rejected.value.log


def test_locals_of_a_snippet_may_have_the_names_of_headers() -> None:
    body = """
  const int Tensor = i, find = j, cdiv = 2, Task = 3, unpack = 4, rounded = 5;
  y(Tensor, find) = cdiv + Task;
  out[0] = unpack + rounded + y.at(i, j, 0.f);
  y.load<8>(out, i, j);
"""
    assert accesses(ptx_of(body), "global")[0] == "st.16"
