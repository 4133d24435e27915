"""Products in tensor memory as they are emitted and compiled; there is no GPU here that runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.codegen.machine_code import disassembled, loop_with, words
from tests.emit.kernels import cuda, document, plan, program_of
from tsc.check import check_reading
from tsc.emit.generated import not_generated
from tsc.source import parse
from tsc.spec.overrides import parse_overrides
from tsc.toolchain.build import Built, compile_source

pytest.importorskip("cuda.bindings.nvrtc")

ARCHS = ("sm_100a", "sm_103a")
TEXT = """\
tsc: 1
kernel: multiply
target: sm_100a
constants: {BM: 128, BN: 256, BK: 64, STAGES: 4, TILES: 2}
params:
  a: {dtype: bf16, shape: [m, k]}
  b: {dtype: bf16, shape: [n, k]}
dims: {k: {min: 1}}
let: {m_tiles: "cdiv(m, BM)", n_tiles: "cdiv(n, BN)"}
resources:
  tiles: {kind: queue, policy: static, axes: {m: m_tiles, n: n_tiles}}
  ab:
    kind: smem
    stages: STAGES
    buffers:
      a: {dtype: bf16, shape: [BM, BK]}
      b: {dtype: bf16, shape: [BN, BK]}
  acc: {kind: tmem, stages: TILES, dtype: f32, shape: [BM, BN]}
tasks:
  store:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body: [{wait: acc}, {release: acc}]
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, BK)
            body:
              - acquire: ab
              - {tma_load: a, at: [tile.m * BM, loop * BK], to: ab.a}
              - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab.b}
              - commit: ab
  mma:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - acquire: acc
          - domain_loop: cdiv(k, BK)
            body:
              - wait: ab
              - {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
              - release: ab
          - commit: acc
"""


def edited(**settings: object) -> str:
    """The spec with constants set, and `a` or `b` turned or of another dtype."""
    text = TEXT
    for name, value in settings.items():
        if name in ("a", "b"):
            text = re.sub(rf"\b{name}: {{dtype: bf16", f"{name}: {{dtype: {value}", text)
        elif name in ("a_turned", "b_turned"):
            own, extent, place = name[0], f"B{'M' if name[0] == 'a' else 'N'}", "m" if name[0] == "a" else "n"
            text = text.replace(f"shape: [{place}, k]", f"shape: [k, {place}]")
            text = text.replace(f"shape: [{extent}, BK]}}\n", f"shape: [BK, {extent}]}}\n")
            text = text.replace("[BK, BM, ", "[BM, ").replace(f"{own}: ab.{own}", f"{own}: ab.{own}.T")
            start = f"tile.{place} * {extent}"
            text = text.replace(f"[{start}, loop * BK]", f"[loop * BK, {start}]")
            # The accumulator has no k.
            text = text.replace("f32, shape: [BK, BN]", "f32, shape: [BM, BN]")
        else:
            text = re.sub(rf"\b{name}: \d+", f"{name}: {value}", text)
    return text


def text_of(spec: str) -> str:
    """The CUDA of a spec without headers, which has to be sound and generated; its sums may be for nobody."""
    report = check_reading(parse(spec, "spec.tsc.yaml", "yaml"), parse_overrides((), ()))
    assert [it.message for it in report.found if it.name != "stage-never-read"] == []
    return cuda(document(spec), headers=False)


def task(text: str, name: str) -> str:
    """The function of a task."""
    return text.split(f"DEVICE void {name}_task(", 1)[1].split("\n}\n", 1)[0]


def built(spec: str, arch: str = "sm_100a") -> Built:
    """What the compiler makes of a spec, without a word and without local memory."""
    made = compile_source(cuda(document(spec)), {}, arch)
    assert made.diagnostics == ()
    assert (made.usage.spill_stores, made.usage.spill_loads, made.usage.stack_bytes) == (0, 0, 0)
    return made


# ---- the whole text ----------------------------------------------------------------------------------------


def test_the_text(golden: Callable[..., None]) -> None:
    golden(text_of(TEXT), ".cu")


@pytest.mark.parametrize("arch", ARCHS)
def test_the_machine_code_of_a_block_of_k(arch: str, tmp_path: Path) -> None:
    text = disassembled(built(TEXT, arch).cubin, tmp_path)
    inner = loop_with("UTCHMMA", text)
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (4, 1)
    assert loop_with("UTMALDG", text).count("UTMALDG") == 2
    found = words(text)
    # One commit a block of k and one a tile.
    assert (found.count("UTCHMMA"), found.count("UTCBAR"), found.count("UTMALDG")) == (4, 2, 2)
    assert not {"LDL", "STL"} & set(found)


# ---- allocation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "stages", "allocated"), [(256, 2, 512), (16, 1, 32), (96, 1, 128), (96, 2, 256), (32, 1, 32)]
)
def test_columns_are_allocated_in_powers_of_two(columns: int, stages: int, allocated: int) -> None:
    spec = edited(BN=columns, TILES=stages)
    tensor = plan(spec).tensor
    assert tensor is not None
    assert (tensor.columns, tensor.allocated) == (columns * stages, allocated)
    kernel = text_of(spec).rpartition("// ---- kernel")[2]
    assert kernel.count(f"tensor_allocate<{allocated}>(shared + TENSOR_SLOT);") == 1
    assert kernel.count(f"tensor_free<{allocated}>(tensor);") == 1


def test_one_warp_allocates_before_all_tasks_and_frees_behind_them() -> None:
    kernel = text_of(TEXT).rpartition("// ---- kernel")[2]
    order = [
        "mbarrier_init_fence();",
        "if (warp == 5) {\n    tensor_allocate<512>(shared + TENSOR_SLOT);\n    tcgen05_fence_before();",
        "__syncthreads();",
        "tcgen05_fence_after();",
        "const u32 tensor = tensor_address(shared + TENSOR_SLOT);",
        "store_task(",
        "load_task(",
        "mma_task(",
        "__syncwarp();\n  tcgen05_fence_before();\n  __syncthreads();",
        "if (warp == 5) {\n    tcgen05_fence_after();\n    tensor_free<512>(tensor);",
    ]
    at = [kernel.index(order[0])]
    for part in order[1:]:
        at.append(kernel.index(part, at[-1]))
    assert at == sorted(at)


def test_the_address_lies_behind_the_barriers() -> None:
    program = program_of(document(TEXT))
    slots = [p.full_offset for p in program.pipelines.values()]
    assert program.tensor_slot is not None
    assert all(slot is not None and slot < program.tensor_slot for slot in slots)
    assert program.smem_bytes == program.tensor_slot + 8


def test_a_kernel_without_tensor_memory_has_no_slot() -> None:
    found = program_of(
        document("""\
tsc: 1
kernel: k
target: sm_90a
launch: {grid: [1]}
resources: {s: {kind: smem, dtype: f32, shape: [64]}}
tasks: {t: {warps: 1, schedule: [task_sync]}}
""")
    )
    assert (found.tensor_slot, found.smem_bytes) == (None, 256)


# ---- arrivals and fences -----------------------------------------------------------------------------------


def test_the_tensor_core_arrives_for_the_task() -> None:
    mma = task(text_of(TEXT), "mma")
    commits = re.findall(r"tcgen05_commit\((\w+) ", mma)
    assert commits == ["ab_empty", "acc_full"]
    assert "mbarrier_arrive" not in mma


def test_a_fence_stands_behind_each_wait() -> None:
    lines = task(text_of(TEXT), "mma").splitlines()
    behind = [lines[i + 1].strip() for i, line in enumerate(lines) if "mbarrier_wait(" in line]
    assert behind == ["tcgen05_fence_after();"] * 2


def test_who_does_not_touch_tensor_memory_has_no_fence() -> None:
    assert "tcgen05" not in task(text_of(TEXT), "load")


def test_the_last_arrivals_are_waited_for() -> None:
    load = task(text_of(TEXT), "load")
    drain = load.rpartition("for (int stage = 0; stage < STAGES; ++stage) {")[2]
    assert "mbarrier_wait(ab_empty + 8 * ab_write.stage, ab_write.phase ^ 1);" in drain


def test_the_counts_of_arrivals() -> None:
    arrivals = {one.name: one.arrivals for one in plan(TEXT).barriers}
    assert arrivals == {"ab.full": 1, "ab.empty": 1, "acc.full": 1, "acc.empty": 1}


def test_threads_that_read_what_the_tensor_core_reads_are_refused() -> None:
    spec = TEXT.replace(
        "              - release: ab",
        "              - {load: v, from: ab.a, at: [0, 0]}\n              - release: ab",
    )
    spec = spec.replace(
        "  acc: {kind: tmem", "  v: {kind: registers, dtype: bf16, per_thread: 1}\n  acc: {kind: tmem"
    )
    sentences = [sentence for _, sentence in not_generated(program_of(document(spec)))]
    assert sentences == ["a task in which the tensor core and threads use `ab` is not generated yet"]


# ---- forms -------------------------------------------------------------------------------------------------

FORMS = [
    # settings, what the function is called, its descriptor, upper words, lower words at address 0
    ({}, "m128n256k16_f32_bf16", 0x08400490, (0x40004040,) * 2, (0x10000, 0x10000)),
    ({"BM": 64, "BN": 8}, "m64n8k16_f32_bf16", 0x04020490, (0x40004040,) * 2, (0x10000, 0x10000)),
    ({"BK": 32}, "m128n256k16_f32_bf16_s64_64", 0x08400490, (0x80004020,) * 2, (0x10000, 0x10000)),
    ({"BK": 16}, "m128n256k16_f32_bf16_s32_32", 0x08400490, (0xC0004010,) * 2, (0x10000, 0x10000)),
    ({"a": "f16", "b": "f16"}, "m128n256k16_f32_f16", 0x08400010, (0x40004040,) * 2, (0x10000, 0x10000)),
    (
        {"a": "tf32", "b": "tf32", "BK": 32},
        "m128n256k8_f32_tf32",
        0x08400910,
        (0x40004040,) * 2,
        (0x10000, 0x10000),
    ),
    (
        {"a": "e4m3", "b": "e5m2", "BK": 128},
        "m128n256k32_f32_e4m3_e5m2",
        0x08400410,
        (0x40004040,) * 2,
        (0x10000, 0x10000),
    ),
    # MN-major: a column atom of 64 elements and all of k lies 64 * 128 bytes behind the one before.
    ({"a_turned": 1}, "m128n256k16_f32_bf16_am", 0x08408490, (0x40004040,) * 2, (0x2000000, 0x10000)),
    ({"b_turned": 1}, "m128n256k16_f32_bf16_bn", 0x08410490, (0x40004040,) * 2, (0x10000, 0x2000000)),
    (
        {"a": "e4m3", "b": "e4m3", "a_turned": 1, "b_turned": 1, "BK": 32},
        "m128n256k32_f32_e4m3_am_bn",
        0x08418010,
        (0x40004040,) * 2,
        (0x1000000, 0x1000000),
    ),
]


@pytest.mark.parametrize(("settings", "name", "descriptor", "upper", "lower"), FORMS, ids=lambda it: str(it))
def test_a_form_of_the_instruction(
    settings: dict[str, object], name: str, descriptor: int, upper: tuple[int, int], lower: tuple[int, int]
) -> None:
    text = text_of(edited(**settings))
    function = text.split(f"DEVICE void mma_{name}(", 1)[1].split("\n}\n", 1)[0]
    assert f'"r"(0x{descriptor:08x})' in function
    assert re.findall(r"matrix_words\(0x(\w+), ([ab])\)", function) == [
        (f"{word:08x}", own) for word, own in zip(upper, "ab", strict=True)
    ]
    found = re.findall(r"const u32 ab_([ab])_matrix = 0x(\w+) \| \(+ab", task(text, "mma"))
    assert found == [(own, f"{word:08x}") for own, word in zip("ab", lower, strict=True)]


WORDS = [
    ({}, "UTCHMMA", 4),
    ({"BK": 16}, "UTCHMMA", 1),
    ({"BK": 128, "STAGES": 2}, "UTCHMMA", 8),
    ({"BM": 64, "BN": 40}, "UTCHMMA", 4),
    ({"b_turned": 1}, "UTCHMMA", 4),
    ({"a": "tf32", "b": "tf32", "BK": 32}, "UTCHMMA", 4),
    ({"a": "e4m3", "b": "e5m2", "BK": 128}, "UTCQMMA", 4),
]


@pytest.mark.parametrize(("settings", "word", "count"), WORDS, ids=lambda it: str(it))
def test_the_instructions_of_a_form(
    settings: dict[str, object], word: str, count: int, tmp_path: Path
) -> None:
    text = disassembled(built(edited(**settings)).cubin, tmp_path)
    assert loop_with(word, text).count(word) == count


STEPS = [
    ({}, "left + 2 * step, right + 2 * step"),
    # Behind 64 elements of k the next column atom begins: 128 or 256 rows of 128 bytes further on.
    (
        {"BK": 128, "STAGES": 2},
        "left + step / 4 * 1024 + step % 4 * 2, right + step / 4 * 2048 + step % 4 * 2",
    ),
    # Along rows of k: 16 of 128 bytes.
    ({"b_turned": 1}, "left + 2 * step, right + 128 * step"),
    ({"a": "e4m3", "b": "e4m3", "a_turned": 1, "BK": 128}, "left + 256 * step, right + 2 * step"),
]


@pytest.mark.parametrize(("settings", "places"), STEPS, ids=lambda it: str(it))
def test_each_step_of_k_moves_the_descriptors(settings: dict[str, object], places: str) -> None:
    mma = " ".join(task(text_of(edited(**settings)), "mma").split())
    assert places in mma


# ---- other owners of operands and accumulators -------------------------------------------------------------

HELD = (
    TEXT.replace("BN: 256", "BN: 64")
    .replace("      a: {dtype: bf16, shape: [BM, BK]}\n", "")
    .replace(
        "  acc: {kind: tmem",
        "  left: {kind: tmem, stages: 2, dtype: bf16, shape: [BM, BK]}\n"
        "  x: {kind: registers, dtype: bf16, shape: [BM, BK]}\n  acc: {kind: tmem",
    )
    .replace("              - {tma_load: a, at: [tile.m * BM, loop * BK], to: ab.a}\n", "")
    .replace("a: ab.a", "a: left")
    .replace("              - wait: ab\n", "              - wait: left\n              - wait: ab\n")
    .replace("              - release: ab\n", "              - release: left\n              - release: ab\n")
    + """\
  fill:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, BK)
            body:
              - {load: x, from: a, at: [tile.m * BM, loop * BK]}
              - acquire: left
              - {tcgen05_st: left, from: x}
              - commit: left
"""
)


def test_an_operand_in_tensor_memory(tmp_path: Path) -> None:
    text = text_of(HELD)
    mma = task(text, "mma")
    assert "[%0], [%1], %2, %3, p;" in text
    assert "const u32 left_2 = left + left_read.stage * LEFT_STAGE;" in mma
    assert "mma_m128n64k16_f32_bf16_at(sum, left_2 + 8 * step, right + 2 * step," in mma
    # A product gives both operands back, and its thread says so once a ring.
    assert re.findall(r"tcgen05_commit\((\w+) ", mma) == ["left_empty", "ab_empty", "acc_full"]
    arrivals = {one.name: one.arrivals for one in plan(HELD).barriers}
    assert (arrivals["left.full"], arrivals["left.empty"]) == (4, 1)  # a warp each, and the tensor core
    loop = loop_with("UTCHMMA", disassembled(built(HELD).cubin, tmp_path))
    assert (loop.count("UTCHMMA"), loop.count("UTCBAR")) == (4, 2)


ONE_TASK = (
    TEXT.replace("BN: 256", "BN: 64")
    .replace("dims: {k", "  d: {dtype: bf16, shape: [m, n]}\ndims: {k")
    .replace("  acc: {kind: tmem", "  y: {kind: registers, dtype: f32, shape: [BM, BN]}\n  acc: {kind: tmem")
    .replace("  mma:\n    warps: 1", "  mma:\n    warps: 4")
    .replace(TEXT[TEXT.index("  store:") : TEXT.index("  load:")], "")
    + """\
          - wait: acc
          - {tcgen05_ld: y, from: acc}
          - release: acc
          - {store: d, from: y, at: [tile.m * BM, tile.n * BN]}
"""
)


def test_the_leader_of_a_task_multiplies_for_all() -> None:
    mma = task(text_of(ONE_TASK), "mma")
    assert re.findall(r"if \(leader\) (tcgen05_commit)\((\w+) ", mma) == [
        ("tcgen05_commit", "ab_empty"),
        ("tcgen05_commit", "acc_full"),
    ]
    # It alone waits for what it multiplies; what it has made all wait for.
    assert "if (leader) mbarrier_wait(ab_full" in mma
    assert "\n    mbarrier_wait(acc_full" in mma
    built(ONE_TASK)


# ---- overlays ----------------------------------------------------------------------------------------------


def test_weights_that_lie_on_their_scores() -> None:
    path = Path(__file__).parents[1] / "rules" / "proof" / "overlay_race" / "good_tensor.tsc.yaml"
    spec = path.read_text(encoding="utf-8")
    tensor = plan(spec).tensor
    assert tensor is not None
    assert [(one.name, one.offset, one.bytes) for one in tensor.regions] == [
        ("s", 0, 128),
        ("p", 0, 64),
        ("acc", 128, 64),
    ]
    assert (tensor.columns, tensor.allocated) == (192, 256)
    mma = task(text_of(spec), "mma")
    # Scores are made anew, and add to nothing but themselves.
    assert "mma_m128n128k16_f32_bf16(s, qs_matrix + 2 * step, right + 2 * step, step > 0);" in mma
    assert "mma_m128n64k16_f32_bf16_at(acc, p + 8 * step," in mma
    built(spec)
