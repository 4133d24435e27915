"""Syncs before a release by one warp of each warpgroup: only a product keeps the warps of one together."""

from __future__ import annotations

import pytest

from tests.emit.test_hazards import SYNC, after, body, loop
from tests.emit.test_hazards_of_products import FILL, PARAMS, RESOURCES

PRODUCT = "{wgmma: acc, a: q, b: ring}"


def syncs(*steps: str, release: str = "release: ring", task: int = 4) -> bool:
    """Whether the threads meet before the first release of a task of so many warps."""
    resources = RESOURCES.replace("ROWS", str(16 * task)).strip("\n")
    lines = body(loop(*steps, warps=task) + loop(*FILL, name="b", warps=1), resources, rest=PARAMS)
    return SYNC in after(lines, release)


@pytest.mark.parametrize("warps", [4, 8])
def test_a_product_keeps_warps_together(warps: int) -> None:
    assert not syncs("wait: ring", PRODUCT, "wgmma_wait: 0", "release: ring", task=warps)


def test_without_a_product_on_each_path_they_meet() -> None:
    guarded = f"{{when: loop % 2 == 0, then: [{PRODUCT}, {{wgmma_wait: 0}}]}}"
    assert syncs("wait: ring", guarded, "release: ring")
    assert not syncs("wait: ring", guarded, "task_sync", "release: ring")


def test_a_later_wait_does_not_concern_an_older_stage() -> None:
    steps = ("wait: ring", PRODUCT, "wait: ring", "wgmma_wait: 0", "{release: ring, keep: 1}")
    assert not syncs(*steps, PRODUCT, "wgmma_wait: 0", "release: ring", release="keep: 1")
    assert syncs(*steps[:4], "release: ring")


def test_warps_that_arrive_themselves_need_none() -> None:
    load = "{ldmatrix: g, from: ring}"
    guarded = f"{{when: loop % 2 == 0, then: [{PRODUCT}, {{wgmma_wait: 0}}]}}"
    resources = RESOURCES + "  g: {kind: registers, dtype: bf16, shape: [64, 64]}\n"
    tasks = loop("wait: ring", load, guarded, "release: ring", warps=4) + loop(*FILL, name="b", warps=1)
    assert SYNC not in after(body(tasks, resources.replace("ROWS", "64").strip("\n"), rest=PARAMS), "release")
