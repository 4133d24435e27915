"""Fragments from and to tensor memory as they are emitted and compiled; no GPU here runs them."""

from __future__ import annotations

import re

import pytest

from tests.codegen.headers import HEADERS
from tests.emit.kernels import cuda, document, program_of
from tsc.emit.generated import not_generated
from tsc.ops.tensor_moves import Instruction, instruction
from tsc.toolchain.nvrtc import CompileOptions, compile_cuda

pytest.importorskip("cuda.bindings.nvrtc")

HEAD = """\
tsc: 1
kernel: multiply
target: sm_100a
constants: {BM: 128, BN: 128, BK: 64}
params:
  a: {dtype: bf16, shape: [BM, k]}
  b: {dtype: bf16, shape: [BN, k]}
  y: {dtype: f32, shape: [m, n]}
  d: {dtype: bf16, shape: [m, n]}
dims: {k: {min: 1}, m: {max: 100000}, n: {max: 100000}}
launch: {grid: [1]}
resources:
  ab:
    kind: smem
    stages: 4
    buffers:
      a: {dtype: bf16, shape: [BM, BK]}
      b: {dtype: bf16, shape: [BN, BK]}
  acc: {kind: tmem, stages: 2, dtype: f32, shape: [BM, BN]}
  aside: {kind: tmem, dtype: f32, shape: [BM, BN]}
  eighths: {kind: tmem, dtype: e4m3, shape: [BM, BN]}
  f: {kind: registers, dtype: f32, shape: [BM, 32]}
  g: {kind: registers, dtype: f32, shape: [BM, 32]}
  h: {kind: registers, dtype: bf16, shape: [BM, 32]}
  whole: {kind: registers, dtype: f32, shape: [BM, BN]}
  odd: {kind: registers, dtype: f32, shape: [BM, 104]}
  eight: {kind: registers, dtype: e4m3, shape: [BM, 32]}
  sum: {kind: registers, dtype: f32, rows_of: f}
  out: {kind: smem, stages: 2, dtype: bf16, shape: [BM, 32]}
  plain: {kind: smem, stages: 2, dtype: bf16, shape: [BM, 40], swizzle: none}
  turned: {kind: smem, stages: 2, dtype: bf16, shape: [32, BM]}
  meet: {kind: barrier}
work:
  twice:
    updates: [f]
    cuda: "for (int i = 0; i < f.size; ++i) f[i] *= 2.f;"
  both:
    updates: [f]
    reads: [g]
    cuda: "for (int i = 0; i < f.size; ++i) f[i] += g[i];"
tasks:
"""
REST = """\
  mma:
    warps: 1
    schedule:
      - acquire: acc
      - domain_loop: cdiv(k, BK)
        body:
          - wait: ab
          - {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
          - release: ab
      - commit: acc
  load:
    warps: 1
    schedule:
      - domain_loop: cdiv(k, BK)
        body:
          - acquire: ab
          - {tma_load: a, at: [0, loop * BK], to: ab.a}
          - {tma_load: b, at: [0, loop * BK], to: ab.b}
          - commit: ab
"""


def spec(*steps: str, warps: int = 4, rows: int = 128, split: str = "") -> str:
    """A product whose accumulator a task of these steps waits for."""
    body = "".join("      - " + step.replace("\n", "\n        ") + "\n" for step in steps)
    main = f"  main:\n    warps: {warps}\n    schedule:\n      - wait: acc\n{body}"
    text = HEAD.replace("BM: 128", f"BM: {rows}")
    if split:
        text = re.sub(r"(kind: registers, dtype: \w+, shape: [^}]*)}", rf"\1, split: {split}}}", text)
    return text + main + REST


def lines_of(*steps: str, warps: int = 4, rows: int = 128, split: str = "") -> list[str]:
    """The statements of the task behind its first wait, without indentation and comments."""
    text = cuda(document(spec(*steps, warps=warps, rows=rows, split=split)), headers=False)
    found = text.split("DEVICE void main_task(", 1)[1].split("\n}\n", 1)[0]
    lines = [line.strip() for line in re.sub(r",\n +", ", ", found).splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("mbarrier_wait("))
    return [line for line in lines[first + 1 :] if line and not line.startswith("//")]


def order_of(*steps: str, warps: int = 4) -> list[str]:
    """What a task does, a word a statement: loads, waits, holds, fences, uses and arrivals."""
    short = {
        r"tcgen05_(\w+)\(": r"\1",
        r"tensor_(load|store)\w*\((\w+)": r"\1 \2",
        r"tensor_hold\((\w+)": r"hold \1",
        r"(twice|both|zero_fragment|convert_fragment|store_fragment<\d>|store_lanes<.*?>)\(": r"use",
        r"if \(task.lane == 0\) mbarrier_arrive": "arrive",
        r"task.sync\(": "sync",
        r"named_barrier_sync\(": "meet",
    }
    found = []
    for line in lines_of(*steps, warps=warps):
        for pattern, word in short.items():
            if match := re.match(pattern, line):
                found.append(match.expand(word))
    return found


def refusals(*steps: str, warps: int = 4, rows: int = 128, split: str = "") -> list[str]:
    text = spec(*steps, warps=warps, rows=rows, split=split)
    return [sentence for _, sentence in not_generated(program_of(document(text)))]


LD = "{tcgen05_ld: f, from: acc, at: [0, 0]}"
LD_G = "{tcgen05_ld: g, from: acc, at: [0, 32]}"
USE, USE_BOTH = "{do: twice}", "{do: both}"
RELEASE = "release: acc"


# ---- instructions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        (LD, ["tensor_load_x32(f.words, acc_from);"]),
        (
            "{tcgen05_ld: whole, from: acc}",
            ["tensor_load_x128(whole.words, acc_from);"],
        ),
        (
            "{tcgen05_ld: odd, from: acc, at: [0, 24]}",
            [
                "tensor_load_x64(odd.words, acc_from);",
                "tensor_load_x32(odd.words + 64, acc_from + 64);",
                "tensor_load_x8(odd.words + 96, acc_from + 96);",
            ],
        ),
        (
            "{tcgen05_ld: eight, from: eighths, at: [0, 32]}",
            ["tensor_load_x8_u32(eight.words, eighths_from);"],
        ),
        ("{tcgen05_st: aside, from: f, at: [0, 96]}", ["tensor_store_x32(f.words, aside_to);"]),
    ],
)
def test_as_few_instructions_as_powers_of_two_allow(step: str, calls: list[str]) -> None:
    lines = lines_of("{zero: f}", step, "{zero: whole}", "{zero: odd}", "{zero: eight}", RELEASE)
    assert [line for line in lines if line.startswith(("tensor_load_", "tensor_store_"))] == calls


@pytest.mark.parametrize(
    ("step", "address"),
    [
        (LD_G, "acc + acc_read.stage * ACC_STAGE + 32 + tensor_lanes();"),
        ("{tcgen05_ld: eight, from: eighths, at: [0, 32]}", "eighths + 8 + tensor_lanes();"),
        ("{tcgen05_st: aside, from: f, at: [0, 96]}", "aside + 96 + tensor_lanes();"),
    ],
)
def test_columns_are_counted_in_words(step: str, address: str) -> None:
    lines = lines_of("{zero: f}", step, RELEASE)
    assert [line.split(" = ")[1] for line in lines if line.startswith("const u32")] == [address]


def test_two_warpgroups_share_columns_out() -> None:
    lines = lines_of("{tcgen05_ld: whole, from: acc}", RELEASE, warps=8, split="columns")
    assert "tensor_load_x64(whole.words, acc_from);" in lines
    assert any("acc_read.stage * ACC_STAGE + task.warp / 4 * 64 + tensor_lanes()" in line for line in lines)


def test_64_rows_come_as_a_matrix() -> None:
    lines = lines_of(LD, "{store: y, from: f}", RELEASE, rows=64)
    assert "tensor_load_16x256b_x4(f.words, acc_from);" in lines
    text = cuda(document(spec(LD, "{store: y, from: f}", RELEASE, rows=64)), headers=False)
    assert "Fragment<float, 64, 32> f;" in text and "LaneFragment" not in text


@pytest.mark.parametrize(
    ("verb", "registers", "rows"),
    [("ld", 1, 128), ("ld", 128, 128), ("st", 2, 128), ("st", 128, 128), ("ld", 4, 64), ("st", 128, 64)],
)
def test_every_instruction_assembles(verb: str, registers: int, rows: int) -> None:
    for dtype, word in (("f32", "float"), ("bf16", "u32"), ("i32", "int"), ("tf32", "tf32")):
        one = Instruction("ld" if verb == "ld" else "st", registers, dtype, rows == 128)
        kernel = f"""
#include "elements.cuh"
#include "tensor_moves.cuh"
{instruction(one, "move")}
extern "C" __global__ void k({word}* x, u32 t) {{
  {word} w[{registers}];
  for (int i = 0; i < {registers}; ++i) w[i] = x[threadIdx.x * {registers} + i];
  move(w, t + tensor_lanes());
  tcgen05_wait_{verb}();
  for (int i = 0; i < {registers}; ++i) x[threadIdx.x * {registers} + i] = w[i];
}}
"""
        ptx = compile_cuda(
            kernel, arch="sm_100a", headers=HEADERS, options=CompileOptions(extra=("--no-cache",))
        ).ptx
        shape = f"32x32b.x{registers}" if rows == 128 else f"16x256b.x{registers // 4}"
        assert f"tcgen05.{verb}.sync.aligned.{shape}.b32" in ptx


# ---- waits -------------------------------------------------------------------------------------------------


def test_a_load_is_waited_for_before_its_use_and_no_sooner() -> None:
    assert order_of(LD, "{zero: sum}", USE, RELEASE) == [
        "fence_after", "load f", "wait_ld", "hold f", "use", "fence_before", "arrive",
    ]  # fmt: skip


def test_a_load_is_waited_for_before_the_release() -> None:
    assert order_of(LD, RELEASE, USE) == [
        "fence_after", "load f", "wait_ld", "hold f", "fence_before", "arrive", "use",
    ]  # fmt: skip


def test_of_two_fragments_the_second_is_loaded_under_the_use_of_the_first() -> None:
    assert order_of(LD, LD_G, USE, USE_BOTH, RELEASE)[1:] == [
        "load f", "wait_ld", "hold f", "load g", "use", "wait_ld", "hold g", "use", "fence_before", "arrive",
    ]  # fmt: skip


def test_fragments_that_are_used_together_are_loaded_together() -> None:
    assert order_of(LD, LD_G, USE_BOTH, RELEASE)[1:7] == [
        "load f", "load g", "wait_ld", "hold f", "hold g", "use",
    ]  # fmt: skip


def test_fragments_that_are_waited_for_together_are_loaded_together() -> None:
    assert order_of(LD, LD_G, RELEASE, USE, USE_BOTH)[1:] == [
        "load f", "load g", "wait_ld", "hold f", "hold g", "fence_before", "arrive", "use", "use",
    ]  # fmt: skip


def test_a_load_at_the_end_of_a_round_is_waited_for_in_the_next_one() -> None:
    loop = "for: 4\nas: j\nbody: [{do: twice}, {tcgen05_ld: f, from: acc, at: [0, j * 32]}]"
    assert order_of(LD, loop, RELEASE)[1:] == [
        "load f", "wait_ld", "hold f", "use", "load f", "wait_ld", "hold f", "fence_before", "arrive",
    ]  # fmt: skip


def test_a_load_on_one_path_is_waited_for_behind_both() -> None:
    guard = "when: k > 64\nthen: [{tcgen05_ld: f, from: acc}]"
    found = order_of("{zero: f}", guard, USE, RELEASE)
    assert found[2:6] == ["load f", "wait_ld", "hold f", "use"]


def test_what_nobody_uses_is_waited_for_at_the_end() -> None:
    assert order_of(RELEASE, "{tcgen05_ld: f, from: aside}")[-2:] == ["load f", "wait_ld"]


def test_stores_are_waited_for_before_others_hear_of_them() -> None:
    found = order_of(LD, "{tcgen05_st: aside, from: f}", "{sync: meet}", RELEASE)
    assert found[1:8] == ["load f", "wait_ld", "hold f", "store f", "wait_st", "fence_before", "meet"]


def test_stores_are_waited_for_before_what_they_wrote_is_loaded() -> None:
    found = order_of(LD, "{tcgen05_st: aside, from: f}", "{tcgen05_ld: g, from: aside}", USE_BOTH, RELEASE)
    assert found[1:9] == ["load f", "wait_ld", "hold f", "store f", "wait_st", "load g", "wait_ld", "hold g"]


def test_loads_are_waited_for_before_what_they_read_is_stored() -> None:
    found = order_of("{zero: g}", LD, "{tcgen05_ld: f, from: aside}", "{tcgen05_st: aside, from: g}", RELEASE)
    assert found[-6:] == ["wait_ld", "hold f", "store g", "wait_st", "fence_before", "arrive"]


def test_memory_that_no_ring_guards_is_fenced_behind_a_meeting() -> None:
    found = order_of(RELEASE, "{sync: meet}", "{tcgen05_ld: f, from: aside}", USE)
    assert found[-6:] == ["meet", "fence_after", "load f", "wait_ld", "hold f", "use"]


# ---- what becomes of a fragment ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("{store: y, from: f, at: [0, 64]}", "store_fragment<1>(y, f, 0, 64);"),
        ("{store: y, from: f, rows: m - 5}", "store_fragment_leading<1>(y, f, m - 5, 0, 0);"),
        ("{load: f, from: y}", "load_fragment<1, CACHE_READ_ONLY>(f, y, 0, 0);"),
        ("{zero: f}", "zero_fragment(f);"),
        ("{activate: f, function: relu}", "map_fragment(f, [](float x) { return relu(x); });"),
        ("{convert: h, from: f}", "convert_fragment(h, f);"),
    ],
)
def test_calls(step: str, call: str) -> None:
    assert call in lines_of(LD, step, RELEASE)


@pytest.mark.parametrize(("ring", "swizzle", "columns"), [("out", 64, 32), ("plain", 0, 40)])
def test_a_thread_stores_16_bytes_of_its_row_at_a_time(ring: str, swizzle: int, columns: int) -> None:
    store = (f"acquire: {ring}", f"{{store: {ring}, from: f}}", f"commit: {ring}")
    stage = f"{ring} + {ring}_write_stage * {ring.upper()}_STAGE"
    view = f"Buffer<bf16, {swizzle}, 128, {columns}>{{{stage}}}"
    call = f"store_lanes<0, 0, 128, 32, false, 8>({view}, f, 0, 0);"
    assert call in lines_of(LD, *store, f"{{tma_store: d, from: {ring}, at: [0, 0]}}", RELEASE)


# ---- refusals ----------------------------------------------------------------------------------------------


def in_one_task(*between: str) -> str:
    """A task whose threads write the operand that one of them multiplies."""
    left = "  left: {kind: tmem, dtype: bf16, shape: [BM, BK]}\n"
    left += "  own: {kind: registers, dtype: bf16, shape: [BM, BK]}\n"
    steps = ("{zero: own}", "{tcgen05_st: left, from: own}", *between)
    text = spec(RELEASE)
    text = text.replace("  meet: {kind: barrier}\n", "  meet: {kind: barrier}\n" + left)
    text = text.replace("a: ab.a, b: ab.b, accumulate: iter > 0", "a: left, b: ab.b, accumulate: iter > 0")
    first = "".join(f"      - {step}\n" for step in steps)
    return text.replace("mma:\n    warps: 1\n    schedule:\n", f"mma:\n    warps: 4\n    schedule:\n{first}")


def test_threads_and_the_tensor_core_of_one_task_meet_first() -> None:
    assert [sentence for _, sentence in not_generated(program_of(document(in_one_task())))] == [
        "all threads of `mma` move parts of `left`, and one of them has the tensor core use it; `task_sync` "
        "belongs between"
    ]
    text = cuda(document(in_one_task("task_sync")), headers=False)
    text = text.split("DEVICE void mma_task(", 1)[1].split("\n}\n", 1)[0]
    found = re.findall(r"^ *(?:if \(leader\) )?(tcgen05_\w+|tensor_store|task\.sync|mma_m128)", text, re.M)
    assert found[:4] == ["tensor_store", "tcgen05_wait_st", "tcgen05_fence_before", "task.sync"]
    # One behind each of two waits.
    assert found[4:] == ["tcgen05_fence_after", "tcgen05_fence_after", "mma_m128", *["tcgen05_commit"] * 2]


def test_64_rows_of_16_bits_are_refused() -> None:
    found = refusals("{zero: eight}", "{tcgen05_st: eighths, from: eight, at: [0, 0]}", RELEASE, rows=64)
    assert found == [
        "64 rows of tensor memory lie in a half of the lanes, and `tcgen05_st` of them is generated for "
        "fragments of 64 rows a warpgroup and 32 bits"
    ]
