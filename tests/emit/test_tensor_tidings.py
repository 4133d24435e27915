"""Loads from tensor memory end before others hear of anything: of a barrier, a turn, another ring, a tile.

Whoever gives a stage back need not be who loads from it, and may know by any of these that the load is done.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emit.kernels import cuda, document
from tests.emit.test_tensor_memory import TEXT

FOLDER = Path(__file__).with_name("tensor_cases")

SPEC = """\
tsc: 1
kernel: observed
target: sm_100a
constants: {BM: 128, BN: 128, BK: 64}
params:
  a: {dtype: bf16, shape: [m, k]}
  b: {dtype: bf16, shape: [n, k]}
  d: {dtype: f32, shape: [m, n]}
dims: {k: {min: 1}}
resources:
  tiles: {kind: queue, policy: POLICY, axes: {m: "cdiv(m, BM)", n: "cdiv(n, BN)"}}
  ab:
    kind: smem
    stages: 4
    buffers: {a: {dtype: bf16, shape: [BM, BK]}, b: {dtype: bf16, shape: [BN, BK]}}
  acc: {kind: tmem, stages: 2, dtype: f32, shape: [BM, BN]}
  slice: {kind: registers, dtype: f32, shape: [BM, BN]}
  meet: MEET
work:
  note: {writes: [meet], cuda: "if (task.thread == 0) meet(0) = 1;"}
  look: {reads: [meet], cuda: "if (meet(0) == 7) __trap();"}
tasks:
  store:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body:
          - {wait: acc, observe: true}
          - {tcgen05_ld: slice, from: acc}
          - TELL
          - {store: d, from: slice, at: [tile.m * BM, tile.n * BN]}
  give:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body:
          - wait: acc
          - HEAR
          - release: acc
""" + TEXT[TEXT.index("  load:\n") :]
WORDS = {
    r"tensor_load": "load",
    r"tcgen05_(wait_ld|fence_before)\(": r"\1",
    r"store_fragment": "use",
    r"named_barrier_sync\(": "meet",
    r"(if \(task.lane == 0\) )?mbarrier_arrive\(.*\b(?:MEET|read|meet|tiles)_?": "tell",
}

METHODS = {
    "barrier": ("{kind: barrier}", "sync: meet", "sync: meet", "meet"),
    "turn": (
        "{kind: turn, order: [store, give]}",
        "take: meet\n          - pass: meet",
        "take: meet\n          - pass: meet",
        "tell",
    ),
    "ring": (
        "{kind: smem, stages: 2, dtype: i32, shape: [4]}",
        "acquire: meet\n          - do: note\n          - commit: meet",
        "wait: meet\n          - do: look\n          - release: meet",
        "tell",
    ),
}


def order_of(text: str) -> list[str]:
    """What the task does that observes, a word a statement."""
    emitted = cuda(document(text), headers=False)
    body = emitted.split("DEVICE void store_task(", 1)[1].split("\n}\n", 1)[0]
    matches = (re.match(pattern, line.strip()) for line in body.splitlines() for pattern in WORDS)
    return [match.expand(WORDS[match.re.pattern]) for match in matches if match]


def spec(meet: str, tell: str, hear: str) -> str:
    """The product, told by a resource and a task's steps, and heard by another's."""
    text = SPEC if "smem" in meet else re.sub(r"work:\n(  .*\n)+", "", SPEC)
    return text.replace("MEET", meet).replace("TELL", tell).replace("HEAR", hear)


@pytest.mark.parametrize("by", METHODS)
def test_a_load_ends_before_others_hear_of_it(by: str) -> None:
    meet, tell, hear, word = METHODS[by]
    found = order_of(spec(meet, tell, hear).replace("POLICY", "static"))
    assert found == ["load", "wait_ld", "fence_before", word, "use"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [("clc", ["load", "wait_ld", "fence_before", "tell", "use"]), ("static", ["load", "wait_ld", "use"])],
)
def test_a_load_ends_before_an_answer_of_the_queue_goes_back(policy: str, words: list[str]) -> None:
    """Tiles that follow by number have no answers, and nobody hears of them."""
    inside = "          - TELL\n          - {store: d, from: slice, at: [tile.m * BM, tile.n * BN]}\n"
    late = SPEC.replace(inside, "      - {store: d, from: slice, at: [0, 0]}\n")
    late = late.replace("          - HEAR\n", "").replace("  meet: MEET\n", "").replace("POLICY", policy)
    late = re.sub(r"work:\n(  .*\n)+", "", late)
    first = "    warps: 4\n    schedule:\n"
    assert order_of(late.replace(first, first + "      - zero: slice\n", 1)) == words


@pytest.mark.parametrize(
    ("case", "task", "words"),
    [
        (
            "led_load",
            "obs",
            ["tensor_load", "tcgen05_wait_ld", "tcgen05_fence_before", "task.sync", "tma_load"],
        ),
        (
            "led_store",
            "fill",
            ["tensor_store", "tcgen05_wait_st", "tcgen05_fence_before", "task.sync", "tma_load"],
        ),
    ],
)
def test_moves_of_all_end_before_one_thread_tells_of_them(case: str, task: str, words: list[str]) -> None:
    """A load arrives by itself, and what the other threads moved comes to its thread by any sync."""
    text = (FOLDER / f"{case}.tsc.yaml").read_text(encoding="utf-8")
    emitted = cuda(document(text), headers=False)
    body = emitted.split(f"DEVICE void {task}_task(", 1)[1].split("\n}\n", 1)[0]
    first = body.index(words[0])
    places = [body.index(f"{word}", first) for word in words]
    assert places == sorted(places)
