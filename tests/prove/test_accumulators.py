"""What a stage holds after its `acquire` counts for nothing, unless who waits for it updates it."""

from __future__ import annotations

import pytest

from tests.emit.kernels import document, program_of
from tsc.prove.proof import prove
from tsc.prove.translate import translate

GEMM = """
tsc: 1
kernel: gemm
target: sm_100a
params: {a: {dtype: bf16, shape: [m, k]}, b: {dtype: bf16, shape: [n, k]}, d: {dtype: f32, shape: [m, n]}}
dims: {k: {min: 1}}
resources:
  tiles: {kind: queue, policy: static, axes: {m: "cdiv(m, 128)", n: "cdiv(n, 128)"}}
  ab:
    kind: smem
    stages: 4
    buffers: {a: {dtype: bf16, shape: [128, 64]}, b: {dtype: bf16, shape: [128, 64]}}
  acc: {kind: tmem, stages: 1, dtype: f32, shape: [128, 128]}
  out: {kind: registers, dtype: f32, shape: [128, 128]}
tasks:
  store:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body:
          - wait: acc
          - {tcgen05_ld: out, from: acc}
          - release: acc
          - {store: d, from: out, at: [tile.m * 128, tile.n * 128]}
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, 64)
            body:
              - acquire: ab
              - {tma_load: a, at: [tile.m * 128, loop * 64], to: ab.a}
              - {tma_load: b, at: [tile.n * 128, loop * 64], to: ab.b}
              - commit: ab
  mma:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - acquire: acc
          - domain_loop: cdiv(k, 64)
            body:
              - wait: ab
              - {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
              - release: ab
          - commit: acc
"""

PRODUCT = "- {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}"

RING = """
tsc: 1
kernel: ring
target: sm_90a
params: {rows: {dtype: i32}}
launch: {grid: [1]}
resources:
  xs: {kind: smem, stages: 2, dtype: f32, shape: [256]}
work:
  fill: {writes: [xs], cuda: ";"}
  see: {reads: [xs], cuda: ";"}
  turn: {updates: [xs], cuda: ";"}
tasks:
  first:
    warps: 4
    schedule:
      - domain_loop: rows
        body:
          - acquire: xs
          - when: iter > 3
            then: [{do: see}]
          - do: fill
          - commit: xs
  second:
    warps: 4
    schedule:
      - domain_loop: rows
        body: [{wait: xs}, {do: see}, {release: xs}]
"""


def kinds(spec: str, *edits: tuple[str, str]) -> set[str]:
    for old, new in edits:
        assert old in spec
        spec = spec.replace(old, new)
    found = translate(program_of(document(spec)))
    assert found.unmodelled == ()
    return {alarm.kind for alarm in prove(found.system).alarms}


@pytest.mark.parametrize(
    "condition", ["iter > 0", "loop > 0", "iter >= 1", "iter != 0", "iter % 2 == 1", "false"]
)
def test_a_first_product_that_sets(condition: str) -> None:
    assert kinds(GEMM, ("iter > 0", condition)) == set()


@pytest.mark.parametrize("condition", ["true", "iter >= 0", "iter != 1", "k > 64", "tile.seq > 0"])
def test_a_first_product_that_adds(condition: str) -> None:
    assert kinds(GEMM, ("iter > 0", condition)) == {"stale"}


def test_accumulate_is_true_by_default() -> None:
    assert kinds(GEMM, (", accumulate: iter > 0", "")) == {"stale"}


def test_a_loop_that_begins_later() -> None:
    later = ("domain_loop: cdiv(k, 64)", "domain_loop: cdiv(k, 64) + 1\n            start: 1")
    assert kinds(GEMM, later, ("iter > 0", "loop > 1")) == set()
    assert kinds(GEMM, later, ("iter > 0", "loop > 0")) == {"stale"}


def test_a_second_product_adds_to_the_first() -> None:
    second = PRODUCT.replace(", accumulate: iter > 0", "")
    both = f"{PRODUCT}\n              {second}"
    assert kinds(GEMM, (PRODUCT, both)) == set()
    assert kinds(GEMM, (PRODUCT, f"{second}\n              {PRODUCT}")) == {"stale"}


def test_who_waits_hands_an_accumulator_back() -> None:
    goes_on = ("iter > 0", "tile.seq > 0 or iter > 0")
    hands_back = ("- release: acc", "- {tcgen05_st: acc, from: out}\n          - release: acc")
    assert kinds(GEMM, goes_on) == {"stale"}
    assert kinds(GEMM, goes_on, hands_back) == set()
    assert kinds(GEMM, ("iter > 0", "true"), hands_back) == {"unwritten"}


def test_an_accumulator_without_stages() -> None:
    plain = ("  acc: {kind: tmem, stages: 1,", "  done: {kind: signal, stages: 1}\n  acc: {kind: tmem,")
    brackets = [(f"{verb}: acc", f"{verb}: done") for verb in ("acquire", "commit", "wait", "release")]
    # No step tells the reader that the tensor cores are done: a race, which is another matter.
    assert kinds(GEMM, plain, *brackets) == {"race"}
    assert kinds(GEMM, plain, *brackets, ("iter > 0", "true")) == {"race", "unwritten"}


def test_a_stage_that_is_read_before_it_is_filled() -> None:
    assert kinds(RING) == {"stale"}
    assert kinds(RING, ("- do: fill\n          - commit", "- do: see\n          - commit")) >= {"unwritten"}


def test_a_stage_that_goes_to_and_fro() -> None:
    assert kinds(RING, ("[{wait: xs}, {do: see}", "[{wait: xs}, {do: turn}")) == set()
