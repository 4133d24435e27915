"""Syncs behind products: each warpgroup waits for its own, and so knows nothing of what others still read."""

from __future__ import annotations

import pytest

from tests.emit.test_hazards import SYNC, after, body, loop

PARAMS = "params: {x: {dtype: bf16, shape: [n, 64, 64]}}"
RESOURCES = """
  acc: {kind: registers, dtype: f32, shape: [ROWS, 64]}
  f: {kind: registers, dtype: bf16, shape: [64, 64], split: columns}
  p: {kind: smem, dtype: bf16, shape: [64, 64]}
  q: {kind: smem, dtype: bf16, shape: [ROWS, 64]}
  ring: {kind: smem, stages: 2, dtype: bf16, shape: [64, 64]}
"""
PRODUCT = "{wgmma: acc, a: q, b: p}"
STORE = "{stmatrix: p, from: f}"


def lines_of(*steps: str, warps: int = 8, rest: str = PARAMS, tail: str = "") -> list[str]:
    resources = RESOURCES.replace("ROWS", str(16 * warps)).strip("\n")
    return body(loop(*steps, warps=warps) + tail, resources, rest=rest)


@pytest.mark.parametrize("warps", [4, 8])
def test_warpgroups_meet_before_they_write_what_products_have_read(warps: int) -> None:
    lines = lines_of(STORE, PRODUCT, "wgmma_wait: 0", warps=warps)
    # In the second round, for another warpgroup's product may read the last one's values until then.
    assert (after(lines, STORE[1:-1])[0] == SYNC) == (warps > 4)


def test_a_sync_before_the_wait_does_not_settle_it() -> None:
    lines = lines_of(STORE, PRODUCT, "task_sync", "wgmma_wait: 0")
    assert after(lines, STORE[1:-1])[0] == SYNC


def test_a_sync_behind_the_wait_does() -> None:
    lines = lines_of(STORE, PRODUCT, "wgmma_wait: 0", "task_sync")
    assert after(lines, STORE[1:-1])[0] != SYNC


def test_a_wait_that_leaves_products_at_work_is_not_the_last() -> None:
    steps = (STORE, PRODUCT, PRODUCT, "wgmma_wait: 1", "task_sync", "wgmma_wait: 0")
    assert after(lines_of(*steps), STORE[1:-1])[0] == SYNC


@pytest.mark.parametrize("at", [("release: ring", "wait: ring"), ()])
def test_a_stage_that_is_updated_behind_its_product(at: tuple[str, ...]) -> None:
    rest = PARAMS + "\nwork: {scale: {updates: [ring], cuda: 'ring(0, task.thread % 64) = 0.f;'}}"
    load = ("acquire: ring", "{tma_load: x, at: [loop, 0, 0], to: ring}", "commit: ring")
    steps = ("wait: ring", "{wgmma: acc, a: q, b: ring}", "wgmma_wait: 0", *at, "do: scale", "release: ring")
    tail = loop(*load, *(load if at else ()), name="b", warps=1)
    assert (after(lines_of(*steps, rest=rest, tail=tail), "do: scale")[0] == SYNC) == (not at)


SIDE = """
work:
  put: {writes: [q], cuda: 'q(0, task.thread) = 1.f;'}
  get: {reads: [q], writes: [y], cuda: 'y(loop, task.thread) = q(1, 63 - task.thread % 64);'}
  wipe: {writes: [ring], cuda: 'ring(task.thread % 64, 0) = 0.f;'}
"""
USE = ("wait: ring", "{wgmma: acc, a: q, b: ring}", "wgmma_wait: 0")
FILL = ("acquire: ring", "{tma_load: x, at: [loop, 0, 0], to: ring}", "commit: ring")
WIDE = PARAMS.replace("]}}", "]}, y: {dtype: bf16, shape: [n, 256]}}")


@pytest.mark.parametrize(("first", "meet"), [("do: put", True), ("task_sync", False)])
def test_warpgroups_meet_before_an_arrival_that_speaks_of_more_than_products(first: str, meet: bool) -> None:
    # One warp of each arrives, and the others may still read what the filling task writes next.
    fill = loop(FILL[0], first, *FILL[1:], name="b", warps=1)
    steps = (*USE, "do: get", "release: ring")
    lines = lines_of(*steps, rest=WIDE + SIDE, tail=fill)
    assert (after(lines, "release: ring")[0] == SYNC) == meet


@pytest.mark.parametrize(("step", "meet"), [("do: wipe", True), ("task_sync", False)])
def test_warpgroups_meet_before_they_give_back_what_threads_wrote(step: str, meet: bool) -> None:
    tail = loop(*FILL, name="b", warps=1)
    lines = lines_of(*USE, step, "release: ring", rest=WIDE + SIDE, tail=tail)
    assert (SYNC in after(lines, "release: ring")) == meet
