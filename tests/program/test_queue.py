"""The answers of a dynamic queue: who asks and takes, how many give them back, where they lie."""

from __future__ import annotations

import pytest

from tests.program.build import program
from tsc.program.model import Answers, Program

SPEC = """
params: {{x: {{dtype: f32, shape: [m, 64]}}}}
target: sm_100a
launch: {{{launch}}}
resources:
  tiles: {{kind: queue, policy: {policy}, axes: {{i: m}}{more}}}
  s: {{kind: smem, dtype: f32, shape: [3]}}
tasks:
  a: {{warps: 4, schedule: [{{work_tile_loop: tiles, body: [task_sync]}}]}}
  b: {{warps: 1, replicas: 2, schedule: [{{work_tile_loop: tiles, body: [pdl_launch]}}]}}
  c: {{warps: 2, schedule: [task_sync]}}
"""


def built(policy: str, launch: str = "", more: str = "") -> Program:
    return program(SPEC.format(policy=policy, launch=launch, more=more))


def answers(found: Program) -> Answers:
    assert found.queue is not None and found.queue.answers is not None
    return found.queue.answers


@pytest.mark.parametrize("policy", ["grid", "static"])
def test_tiles_by_number_have_none(policy: str) -> None:
    found = built(policy)
    assert found.queue is not None and found.queue.answers is None and not found.queue.dynamic
    assert found.smem_bytes == 16


@pytest.mark.parametrize("policy", ["atomic", "clc"])
def test_each_warp_and_each_single_thread_gives_an_answer_back(policy: str) -> None:
    found = answers(built(policy))
    assert found.scheduler == "tiles.fetch"
    assert found.takers == ("a", "b[0]", "b[1]", "tiles.fetch")
    assert (found.stages, found.full_arrivals, found.empty_arrivals) == (2, 1, 4 + 1 + 1 + 1)


@pytest.mark.parametrize("size", [2, 8])
def test_the_first_cta_of_a_cluster_hears_of_all(size: int) -> None:
    assert answers(built("atomic", f"cluster: {{i: {size}}}")).empty_arrivals == 7 * size


@pytest.mark.parametrize(
    ("policy", "launch", "kind", "size"),
    [
        ("atomic", "", "AsyncAsync", 0),
        ("atomic", "cluster: {i: 2}", "AsyncAsync", 4),
        ("clc", "", "ClcFetchAsync", 16),
        ("clc", "cluster: {i: 2}", "ClcFetchAsync", 16),
    ],
)
def test_how_an_answer_comes(policy: str, launch: str, kind: str, size: int) -> None:
    found = answers(built(policy, launch))
    assert (found.kind, found.tx_bytes) == (kind, size)


def test_answers_lie_behind_storage_and_their_barriers_behind_all_others() -> None:
    found = built("atomic", more=", stages: 3")
    place = answers(found)
    assert (place.offset, place.full_offset, place.empty_offset) == (16, 64, 88)
    assert found.smem_bytes == 112
