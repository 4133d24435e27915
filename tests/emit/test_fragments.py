"""Fragments in the text: what is asked where they are moved, what is refused, what stands around it, and how
few instructions it takes.
"""

from __future__ import annotations

import re

import pytest

from tests.emit.kernels import cuda, document, plan, program_of, small
from tsc.emit.generated import not_generated
from tsc.toolchain.nvrtc import Rejected, compile_cuda

PARAMS = """
params:
  x: {dtype: f32, shape: [m, n]}
  y: {dtype: bf16, shape: [m, n]}
  whole: {dtype: bf16, shape: [256, 256]}
  planes: {dtype: bf16, shape: [3, m, n]}
  line: {dtype: f32, shape: [n]}
  nibbles: {dtype: e2m1, shape: [m, n]}
dims: {m: {max: 100000}, n: {max: 100000}}
"""
RESOURCES = """
  f: {kind: registers, dtype: f32, shape: [128, 64]}
  g: {kind: registers, dtype: bf16, shape: [128, 64]}
  h: {kind: registers, dtype: f32, shape: [128, 64], split: columns}
  rows: {kind: registers, dtype: f32, rows_of: f}
  count: {kind: registers, dtype: i32, per_thread: 1}
  eighths: {kind: registers, dtype: e4m3, shape: [128, 64]}
  right: {kind: smem, dtype: e4m3, shape: [64, 64]}
  big: {kind: smem, dtype: bf16, shape: [256, 128]}
  half: {kind: smem, dtype: f32, shape: [128, 32]}
  odd: {kind: smem, dtype: bf16, shape: [128, 40], swizzle: none}
  staged: {kind: smem, stages: 2, dtype: bf16, shape: [128, 64]}
"""


def spec(*steps: str, warps: int = 8, more: str = "") -> str:
    lines = ["  main:", f"    warps: {warps}", "    schedule:", *(f"      - {step}" for step in steps)]
    return small("\n".join(lines) + "\n", RESOURCES.strip("\n"), PARAMS.strip("\n") + more)


def lines_of(*steps: str, warps: int = 8, more: str = "") -> list[str]:
    """The statements of the task, without indentation and declarations."""
    text = cuda(document(spec(*steps, warps=warps, more=more)), headers=False)
    found = re.search(r"^DEVICE void main_task\(.*?^}", text, re.M | re.S)
    assert found is not None
    found_lines = [line.strip() for line in found[0].replace(",\n       ", ",").splitlines()]
    first = next(i for i, line in enumerate(found_lines) if line.startswith("// "))
    return [line for line in found_lines[first:-1] if line and not line.startswith("// ")]


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("{store: y, from: f, at: [0, 64]}", "store_fragment<1>(y, f, 0, 64);"),
        ("{store: y, from: f}", "store_fragment<1>(y, f, 0, 0);"),
        ("{store: whole, from: f, at: [128, 192]}", "store_fragment<0>(whole, f, 128, 192);"),
        ("{store: whole, from: f, at: [129, 192]}", "store_fragment<1>(whole, f, 129, 192);"),
        ("{store: whole, from: f, at: [m - 200, 0]}", "store_fragment<2>(whole, f, m - 200, 0);"),
        ("{store: planes, from: f, at: [2, 0, 64]}", "store_fragment<1>(planes, f, 2, 0, 64);"),
        ("{store: y, from: f, rows: m - 5}", "store_fragment_leading<1>(y, f, m - 5, 0, 0);"),
        ("{store: whole, from: f, rows: 100}", "store_fragment_leading<1>(whole, f, 100, 0, 0);"),
        ("{store: whole, from: f, rows: 128}", "store_fragment<0>(whole, f, 0, 0);"),
        (
            "{store: y, from: f, cache: evict_first}",
            "store_fragment<1, CACHE_EVICT_FIRST>(y, f, 0, 0);",
        ),
        (
            "{store: big, from: f, at: [128, 64]}",
            "store_part<0, 0, 64, 64, false, true>(Buffer<bf16, 128, 256, 128>{big}, f, "
            "128 + task.warp / 4 * 64, 64);",
        ),
        (
            "{store: big.T, from: f, at: [0, 128]}",
            "store_part<0, 0, 64, 64, true, true>(Buffer<bf16, 128, 256, 128>{big}, f, task.warp / 4 * 64, "
            "128);",
        ),
        (
            "{store: half, from: f, at: [0, 32], rows: 9}",
            "store_part<0, 32, 64, 32, false, true>(Buffer<float, 128, 128, 32>{half}, f, "
            "task.warp / 4 * 64, 0, 9);",
        ),
        (
            "{store: half, from: h, at: [0, 32]}",
            "if (task.warp / 4 == 1) store_part<0, 0, 128, 32, false, true>("
            "Buffer<float, 128, 128, 32>{half}, h, 0, 0);",
        ),
    ],
)
def test_what_is_asked(step: str, call: str) -> None:
    text = " ".join(lines_of("{zero: f}", "{zero: h}", step))
    assert text.removeprefix("zero_fragment(f); zero_fragment(h); ") == call


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("{store: line, from: f, at: [0]}", "`line` has no rows and columns"),
        ("{store: nibbles, from: f}", "two elements of `nibbles` share a byte"),
        ("{store: y, from: f, at: [thread, 0]}", "`thread` has them differ"),
        ("{store: odd, from: f, at: [0, 4]}", "`odd` takes no 40 columns of `f` from 4 on"),
        ("{store: big, from: f, at: [n, 0]}", "128 rows of `f` from `n` on are not shown to lie inside"),
        ("{store: big, from: f, at: [0, 65]}", "64 columns of `f` from `65` on are not shown to lie inside"),
        ("{convert: h, from: f}", "split by columns, and `f` 128 by 64 split by rows"),
        ("{ldmatrix: f, from: big, at: [0, 0]}", "`ldmatrix` makes no `f32` of `bf16`"),
        ("{ldmatrix: g, from: big, at: [0, 8]}", "begins at multiples of 16 elements"),
        ("{stmatrix: half, from: f, at: [0, 0]}", "matrices of 16-bit elements, and `half` is none"),
        ("{wgmma: f, a: eighths, b: right}", "`eighths` does not lie in registers as `wgmma` takes it"),
        ("{activate: count, function: relu}", "`relu` is a function of floats, and `count` holds `i32`"),
    ],
)
def test_what_is_refused(step: str, words: str) -> None:
    found = [sentence for _, sentence in not_generated(program_of(document(spec("{zero: f}", step))))]
    assert len(found) == 1 and words in found[0], found


def test_other_threads_values_are_met_after_a_sync() -> None:
    lines = lines_of("{zero: f}", "{store: half, from: f, at: [0, 32]}", "{load: f, from: half, at: [0, 0]}")
    calls = [line for line in lines if "_part" in line or "sync" in line]
    assert [line.split("<")[0] for line in calls] == ["store_part", "task.sync();", "load_part"]


def test_in_global_memory_too() -> None:
    lines = lines_of("{zero: f}", "{store: y, from: f}", "{load: g, from: y}", "{store: y, from: g}")
    calls = [line.split("<")[0] for line in lines if "_fragment<" in line or "sync" in line]
    assert calls == ["store_fragment", "task.sync();", "load_fragment", "store_fragment"]


def test_what_an_engine_reads_is_fenced() -> None:
    lines = lines_of(
        "{zero: g}",
        "{store: big, from: g, at: [0, 0]}",
        "{tma_store: y, at: [0, 0], from: big}",
        "store_wait: 0",
    )
    first = next(i for i, line in enumerate(lines) if line.startswith("store_part"))
    assert lines[first + 1 : first + 3] == ["fence_proxy_async();", "task.sync();"]


def test_a_store_ring_is_filled_by_a_fragment_store() -> None:
    lines = lines_of(
        "{zero: f}",
        "acquire: staged",
        "{store: staged, from: f}",
        "commit: staged",
        "{tma_store: y, at: [0, 0], from: staged}",
    )
    first = next(i for i, line in enumerate(lines) if line.startswith("store_part"))
    assert lines[first + 1 : first + 3] == ["fence_proxy_async();", "task.sync();"]


def test_nothing_is_asked_of_the_loader() -> None:
    """Rows of any pitch at any address: what is aligned is found out when the kernel runs."""
    manifest = plan(spec("{load: f, from: x}", "{store: y, from: f}")).manifest
    params = {param["name"]: param for param in manifest["params"]}
    assert (params["y"]["align"], params["y"]["stride_multiple"]) == (2, 1)
    assert (params["x"]["align"], params["x"]["stride_multiple"]) == (4, 1)


def test_values_by_rows_need_no_fragment_beside_them() -> None:
    work = "\nwork:\n  clear:\n    writes: [rows]\n    cuda: 'rows[0] = rows[1] = 0.f;'"
    text = cuda(document(spec("do: clear", more=work)), headers=False)
    assert "Registers<float, 2>& rows" in text
    assert "Fragment<" not in text


def test_instructions_of_a_store() -> None:
    """Two neighbours at a time where rows allow it, else one at a time; addresses by constants alone."""
    pytest.importorskip("cuda.bindings.nvrtc")
    text = cuda(document(spec("{zero: f}", "{store: y, from: f}")))
    built = compile_cuda(text, arch="sm_90a")
    entry = built.ptx[built.ptx.index(".entry") :]
    assert [len(re.findall(rf"st\.global\.{kind}", entry)) for kind in ("u32", "u16")] == [16, 32]
    # By the pitch for the thread's first row and, once a way, each of its rows.
    assert len(re.findall(r"mul\.lo\.s64|mad\.lo\.s64|mul\.wide", entry)) < 12


@pytest.mark.parametrize("warps", [4, 8])
def test_rows_are_not_joined_over_warpgroups(warps: int) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    work = "\nwork:\n  join:\n    reads: [h]\n    writes: [rows]\n    cuda: 'rows[0] = h.row_sum(h[0]);'"
    text = cuda(document(spec("{zero: h}", "do: join", warps=warps, more=work)))
    if warps == 4:
        assert compile_cuda(text, arch="sm_90a").cubin
    else:
        with pytest.raises(Rejected):
            compile_cuda(text, arch="sm_90a")
