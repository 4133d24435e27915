"""Where shared and tensor memory lie: sizes, alignment, swizzles, overlays, barriers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.program.build import HEAD, memory, pipe, program
from tsc.program.model import Program
from tsc.program.storage import SHARED_ALIGN, derived_swizzle

SPEC = "params: {x: {dtype: f32, shape: [n]}, y: {dtype: f32, shape: [n]}}\nlaunch: {grid: [1]}\n"


def resources(*lines: str, steps: str = "task_sync", head: str = HEAD) -> Program:
    text = SPEC + "resources:\n" + "".join(f"  {line}\n" for line in lines)
    return program(text + f"tasks: {{t: {{warps: 4, schedule: [{steps}]}}}}", head=head)


@pytest.mark.parametrize(
    ("line", "stage", "bytes"),
    [
        ("r: {kind: smem, dtype: f32, shape: [100]}", 400, 400),
        ("r: {kind: smem, dtype: bf16, shape: [3]}", 16, 16),
        ("r: {kind: smem, dtype: i4, shape: [2, 33, 2]}", 80, 80),
        ("r: {kind: smem, stages: 3, dtype: f32, shape: [100]}", 400, 1200),
        ("r: {kind: smem, stages: 3, dtype: f32, shape: [100], align: 128}", 512, 1536),
        ("r: {kind: smem, stages: 2, dtype: i64, shape: [2, 2, 2]}", 64, 128),
        ("r: {kind: smem, dtype: f32, shape: []}", 16, 16),
        ("r: {kind: smem, buffers: {a: {dtype: u8, shape: [5]}, b: {dtype: f32, shape: [4]}}}", 32, 32),
        (
            "r: {kind: smem, buffers: {a: {dtype: u8, shape: [5]}, b: {dtype: f32, shape: [4], align: 64}}}",
            128,
            128,
        ),
    ],
)
def test_sizes(line: str, stage: int, bytes: int) -> None:
    found = resources(line)
    assert (memory(found, "r").stage_bytes, memory(found, "r").copy_bytes) == (stage, bytes)


@pytest.mark.parametrize(
    ("steps", "shape", "swizzle", "align"),
    [
        ("task_sync", "[64, 64]", 0, 16),
        ("{tma_load: x, to: r}", "[64, 64]", 0, 128),
        ("{bulk_load: x, to: r}", "[64]", 0, 128),
        ("{stmatrix: r, from: f}", "[64, 64]", 128, 1024),
        ("{stmatrix: r, from: f}", "[64, 32]", 64, 512),
        ("{stmatrix: r, from: f}", "[64, 16]", 32, 256),
        ("{stmatrix: r, from: f}", "[64, 8]", 0, 16),
        ("{stmatrix: r, from: f}", "[64, 192]", 128, 1024),
        ("{ldmatrix: f, from: r}", "[64, 64]", 128, 1024),
        ("{wgmma: f, a: r, b: r}", "[64, 64]", 128, 1024),
        ("{store: r, from: f}", "[64, 64]", 128, 1024),
        ("{store: r, from: v}", "[64, 64]", 0, 16),
        ("{store: r, from: f}", "[64, 64], swizzle: none", 0, 16),
        ("{store: r, from: f}", "[64, 64], swizzle: 32", 32, 256),
        ("task_sync", "[64, 64], swizzle: 64", 64, 512),
    ],
)
def test_swizzle_follows_from_who_touches_it(steps: str, shape: str, swizzle: int, align: int) -> None:
    found = resources(
        f"r: {{kind: smem, dtype: bf16, shape: {shape}}}",
        "f: {kind: registers, dtype: f32, shape: [64, 64]}",
        "v: {kind: registers, dtype: f32, per_thread: 1}",
        steps=steps,
    )
    buffer = memory(found, "r").buffers[0]
    assert (buffer.swizzle, buffer.align) == (swizzle, align)


@given(st.integers(0, 4096))
def test_the_widest_swizzle_that_divides(width: int) -> None:
    span = derived_swizzle(width)
    dividing = [s for s in (32, 64, 128) if width and width % s == 0]
    assert span == max(dividing, default=0)


ALIGNS = (16, 32, 128, 256, 512, 1024)
BUFFERS = st.tuples(st.integers(1, 700), st.sampled_from(ALIGNS), st.integers(0, 4), st.integers(1, 3))


@given(st.lists(BUFFERS, min_size=1, max_size=6))
def test_nothing_overlaps_and_everything_is_aligned(shapes: list[tuple[int, int, int, int]]) -> None:
    lines = []
    for i, (extent, align, stages, _) in enumerate(shapes):
        ring = f"stages: {stages}, " if stages else ""
        lines.append(f"r{i}: {{kind: smem, {ring}dtype: f32, shape: [{extent}], align: {align}}}")
    found = resources(*lines)
    spans = []
    for i, (extent, align, stages, _) in enumerate(shapes):
        one = memory(found, f"r{i}")
        assert one.offset is not None
        assert one.offset % align == 0 and one.stage_bytes % align == 0 and align <= SHARED_ALIGN
        assert one.stage_bytes >= extent * 4
        spans.append((one.offset, one.offset + one.copy_bytes))
        if stages:
            barriers = pipe(found, f"r{i}")
            assert barriers.full_offset is not None and barriers.empty_offset is not None
            spans += [(barriers.full_offset, barriers.full_offset + 8 * stages)]
            spans += [(barriers.empty_offset, barriers.empty_offset + 8 * stages)]
    spans.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    assert found.smem_bytes == spans[-1][1]


def test_copies_lie_side_by_side() -> None:
    text = (
        SPEC
        + """
resources:
  own: {kind: smem, per: t, stages: 2, dtype: f32, shape: [32]}
  after: {kind: smem, dtype: f32, shape: [32]}
tasks: {t: {warps: 1, replicas: 3, schedule: [{acquire: own}, {commit: own}]}}
"""
    )
    found = program(text)
    assert (memory(found, "own").copies, memory(found, "own").copy_bytes) == (3, 256)
    assert memory(found, "after").offset == 3 * 256
    offsets = {pipe(found, "own", copy).full_offset for copy in range(3)}
    assert len(offsets) == 3


@pytest.mark.parametrize(
    ("over", "offset"),
    [
        ("over: r", 1024),
        ("over: {of: r}", 1024),
        ("over: {of: r, stage: 1}", 1024 + 512),
        ("over: s", 1024 + 512),
    ],
)
def test_overlay(over: str, offset: int) -> None:
    found = resources(
        "first: {kind: smem, dtype: f32, shape: [256]}",
        "r: {kind: smem, stages: 2, dtype: f32, shape: [128]}",
        "s: {kind: smem, dtype: f32, shape: [16], over: {of: r, stage: 1}}",
        f"o: {{kind: smem, dtype: f32, shape: [8], {over}}}",
    )
    assert memory(found, "o").offset == offset
    assert memory(found, "r").offset == 1024
    assert found.smem_bytes == 1024 + 1024 + 2 * 2 * 8


def test_ground_is_aligned_for_what_lies_on_it() -> None:
    found = resources(
        "first: {kind: smem, dtype: u8, shape: [16]}",
        "ground: {kind: smem, dtype: u8, shape: [4096]}",
        "middle: {kind: smem, dtype: f32, shape: [64], over: ground}",
        "top: {kind: smem, dtype: f32, shape: [32], align: 512, over: middle}",
    )
    assert {memory(found, name).offset for name in ("ground", "middle", "top")} == {512}


def test_overlay_of_a_copy() -> None:
    text = (
        SPEC
        + """
resources:
  own: {kind: smem, per: t, dtype: f32, shape: [64]}
  second: {kind: smem, dtype: f32, shape: [64], over: "own[1]"}
  each: {kind: smem, per: t, dtype: f32, shape: [32], over: own}
tasks: {t: {warps: 1, replicas: 2, schedule: [task_sync]}}
"""
    )
    found = program(text)
    assert memory(found, "second").offset == 256
    assert (memory(found, "each").offset, memory(found, "each").copy_bytes) == (0, 256)


@pytest.mark.parametrize(
    "lines", [["a: {over: a}"], ["a: {over: b}", "b: {over: a}"], ["a: {over: r}"], ["a: {over: no}"]]
)
def test_overlay_without_ground_has_no_place(lines: list[str]) -> None:
    whole = [line.replace("{", "{kind: smem, dtype: f32, shape: [8], ") for line in lines]
    found = resources("r: {kind: registers, dtype: f32, per_thread: 1}", *whole)
    assert memory(found, "a").offset is None


@pytest.mark.parametrize(("kind", "shared"), [("merge", "empty_offset"), ("fork", "full_offset")])
def test_group_shares_a_barrier(kind: str, shared: str) -> None:
    found = resources(
        "a: {kind: smem, stages: 2, dtype: f32, shape: [32]}",
        "b: {kind: smem, stages: 2, dtype: f32, shape: [32]}",
        f"both: {{kind: {kind}, of: [a, b]}}",
    )
    one, other = pipe(found, "a"), pipe(found, "b")
    for side in ("full_offset", "empty_offset"):
        assert (getattr(one, side) == getattr(other, side)) is (side == shared)
    assert found.smem_bytes == 2 * 2 * 128 + 3 * 2 * 8
    assert memory(found, "a").group == memory(found, "b").group == "both"


def test_tensor_memory_counts_columns() -> None:
    found = resources(
        "a: {kind: tmem, stages: 2, dtype: f32, shape: [128, 96]}",
        "b: {kind: tmem, buffers: {p: {dtype: bf16, shape: [128, 64]}, q: {dtype: f32, shape: [128, 5]}}}",
        head=HEAD.replace("sm_90a", "sm_100a"),
    )
    assert (memory(found, "a").stage_bytes, memory(found, "a").copy_bytes, memory(found, "a").offset) == (
        96,
        192,
        0,
    )
    assert [buffer.offset for buffer in memory(found, "b").buffers] == [0, 32]
    assert (memory(found, "b").offset, found.tmem_columns) == (192, 192 + 32 + 5)


@pytest.mark.parametrize(
    "line",
    [
        "r: {kind: smem, dtype: f32, shape: [n]}",
        "r: {kind: smem, dtype: f32, shape: [-1]}",
        "r: {kind: smem, stages: n, dtype: f32, shape: [8]}",
        "r: {kind: smem, stages: 0, dtype: f32, shape: [8]}",
        "r: {kind: smem, buffers: {a: {dtype: f32, shape: [8]}, b: {dtype: f32, shape: [n]}}}",
        "r: {kind: smem}",
    ],
)
def test_unknown_sizes_leave_the_total_open(line: str) -> None:
    assert resources(line).smem_bytes is None
    assert resources("r: {kind: smem, dtype: f32, shape: [8]}").smem_bytes == 32
