"""Details of the text: names that collide, places in the spec, headers by name or by text."""

from __future__ import annotations

import re

import pytest

from tests.emit.kernels import cuda, document, document_of, small
from tsc.toolchain.build import compile_source
from tsc.toolchain.diagnose import SpecText
from tsc.toolchain.errors import CompileFailed

pytest.importorskip("cuda.bindings.nvrtc")

# Every name here is also one of a device header, of CUDA, or of what the generator itself declares.
COLLIDING = small(
    tasks="""
  Cursor:
    warps: 1
    schedule:
      - for: cdiv
        as: mbarrier_wait
        body:
          - wait: shared
          - {do: tma_load, with: {elect_one: mbarrier_wait + find_}, out: [leader]}
          - when: leader > 0
            then: [{store: Tensor, from: u32, at: [mbarrier_wait]}]
          - release: shared
  RING:
    warps: 1
    schedule:
      - for: cdiv
        as: unit
        body:
          - acquire: shared
          - {bulk_load: x_data, at: [unit, 0], to: shared}
          - commit: shared
""",
    resources="""
  shared: {kind: smem, stages: N, dtype: f32, shape: [4]}
  u32: {kind: registers, dtype: f32, per_thread: 1}
""",
    rest="""
constants: {N: 2, TASK: 3}
params:
  x_data: {dtype: f32, shape: [cdiv, 4]}
  Tensor: {dtype: f32, shape: [cdiv]}
let: {find_: N + TASK}
work:
  tma_load:
    args: {elect_one: i32}
    returns: {bulk_load: i32}
    reads: [shared, x_data]
    writes: [u32]
    cuda: |
      bulk_load = elect_one + TASK - TASK + find_;
      u32 = shared(0) + x_data(elect_one - find_, 1);
""".replace("cdiv", "bf16"),
).replace("for: cdiv", "for: bf16")


def test_names_that_others_have_are_told_apart() -> None:
    built = compile_source(cuda(document(COLLIDING)), {}, "sm_90a")
    assert built.diagnostics == ()


def test_an_error_in_a_snippet_is_placed_in_the_spec() -> None:
    found = document_of("tokens")
    text = found.text.replace("big = value > WIDE;", "big = value > WIDER;")
    line = text[: text.index("WIDER")].count("\n") + 1
    with pytest.raises(CompileFailed) as failed:
        compile_source(cuda(document(text)), {}, "sm_90a")
    assert f'spec.tsc.yaml({line}): error: identifier "WIDER" is undefined' in failed.value.log


@pytest.mark.parametrize("text", ["y(0) = 1.f;", "auto f = [&](int i) { return y(i); }; f(0);"])
def test_a_view_asked_for_too_few_coordinates_is_placed_in_the_spec(text: str) -> None:
    found = document(
        small(
            "  main: {warps: 1, schedule: [{do: put}]}",
            rest="params: {y: {dtype: f32, shape: [n, 4]}}\n"
            f"work: {{put: {{writes: [y], cuda: '{text}'}}}}",
        )
    )
    with pytest.raises(CompileFailed) as failed:
        compile_source(cuda(found), {}, "sm_90a", spec=SpecText(found.name, found.text))
    (error,) = failed.value.diagnostics
    assert error.message == "a tensor takes as many coordinates as it has dimensions"
    assert "cuda" in found.text.splitlines()[error.span.start.line - 1]


def test_a_let_over_several_lines_is_one_line_of_the_text() -> None:
    text = small(
        '  main: {warps: 1, schedule: [{zero: v}, {store: y, from: v, at: ["thread +\\n  q"]}]}',
        "  v: {kind: registers, dtype: f32, per_thread: 1}",
        "constants: {A: 3}\nparams: {y: {dtype: f32, shape: [n]}}\nlet:\n  q: |\n    A +\n      1",
    )
    made = cuda(document(text))
    assert "constexpr int q = 4;  // A + 1\n" in made
    assert compile_source(made, {}, "sm_90a").diagnostics == ()


def test_any_number_of_lets_may_be_made_from_one_another() -> None:
    lets = "".join(f"  q{i}: q{i - 1} + 1\n" for i in range(1, 1500))
    text = small(
        "  main: {warps: 1, schedule: [{zero: v}, {store: y, from: v, at: [thread + q1499]}, "
        "{store: y, from: v, at: [r1]}]}",
        "  v: {kind: registers, dtype: f32, per_thread: 1}",
        f"params: {{y: {{dtype: f32, shape: [n]}}}}\nlet:\n  q0: n\n{lets}  r0: thread\n  r1: r0 + q0",
    )
    made = cuda(document(text), headers=False)
    assert made.index("const i64 q1 = ") < made.index("const i64 q1499 = ")
    assert "i64(task.thread) + q0" in made


def test_an_error_after_a_snippet_is_placed_in_the_text() -> None:
    text = cuda(document_of("tokens"))
    number = text[: text.index("// ---- task: main")].count("\n") + 1
    broken = text.replace("// ---- task: main", "int wrong = nothing;  // ---- task: main", 1)
    with pytest.raises(CompileFailed) as failed:
        compile_source(broken, {}, "sm_90a")
    assert f"kernel.cu({number}): error" in failed.value.log


def test_without_lines_nothing_points_into_the_spec() -> None:
    text = cuda(document_of("tokens"), line=False)
    assert "#line" not in text
    assert compile_source(text, {}, "sm_90a").diagnostics == ()


def test_headers_by_name_come_before_the_kernel() -> None:
    text = cuda(document_of("tiles"), headers=False)
    names = re.findall(r'#include "(.+)"', text)
    assert "registers.cuh" in names and "tma_load.cuh" not in names
    assert names.index("types.cuh") < names.index("registers.cuh")


def test_only_what_is_used_is_inlined() -> None:
    assert "tma_load" not in cuda(document_of("tiles"))


def test_no_line_is_too_long_to_read() -> None:
    lines = cuda(document_of("multicast"), headers=False).splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith(("struct", "    R"))] == []


def test_what_is_known_when_built_is_no_condition() -> None:
    tasks = """
  main:
    warps: 1
    schedule:
      - when: N > 1
        then: [task_sync]
        else: [pdl_wait]
"""
    text = cuda(document(small(tasks, rest="constants: {N: 2}")), headers=False)
    assert "if (" not in text and "grid_dependency_wait" not in text and "task.sync()" in text


def test_build_time_arguments_of_a_work_are_constant_expressions() -> None:
    tasks = """
  main:
    warps: 1
    schedule:
      - {do: w, with: {c: N > 1, d: "max(N, 3)"}}
"""
    rest = """
constants: {N: 2}
params: {y: {dtype: f32, shape: [32]}}
work: {w: {args: {c: const, d: const}, writes: [y], cuda: 'y(task.thread) = c + d;'}}
"""
    text = cuda(document(small(tasks, rest=rest)))
    assert "w<(N > 1), 3>(" in text
    assert compile_source(text, {}, "sm_90a").diagnostics == ()
