"""Bytes and CTAs of a translated program: overlays, tensors, clusters, leaders, fences, answers."""

from __future__ import annotations

import pytest

from tests.prove.translated import (
    COPY,
    agent,
    alarms,
    barrier,
    every,
    nodes,
    of_file,
    only,
    translated,
    verbs,
)
from tsc.emit.hazards import Hazards
from tsc.prove.machine import Arrive, Fence, If, Load, Touch, Wait
from tsc.prove.proof import prove
from tsc.prove.translate import frame

# ---- bytes -------------------------------------------------------------------------------------------------


def test_overlay_shares_segments_and_its_ring_does_not_turn() -> None:
    found = of_file("tests/rules/accept/overlay.tsc.yaml")
    owners = [{one.resource for one in source.owners} for source in found.segments]
    assert owners == [{"xs", "partial"}, {"xs"}]
    assert [(one.begin, one.end) for one in found.segments[0].owners] == [(0, 128), (0, 128)]
    assert [ring.turns for ring in found.system.rings] == [False]
    assert [ring.turns for ring in translated(COPY).system.rings] == [True]


def test_stage_under_an_overlay_is_told_from_the_others() -> None:
    text = COPY.replace(
        "resources:", "resources:\n      s: {kind: smem, dtype: f32, shape: [256], over: {of: xs, stage: 2}}"
    )
    found = translated(text)
    [shared] = [source for source in found.segments if len(source.owners) > 1]
    assert {(one.resource, one.stage) for one in shared.owners} == {("xs", 2), ("s", None)}


def test_two_buffers_of_a_stage_are_apart() -> None:
    found = of_file("tests/emit/cases/fused.tsc.yaml")
    assert [tuple(one.buffer for one in source.owners) for source in found.segments] == 3 * [("a",), ("b",)]
    copy, fill = agent(found, "copy"), agent(found, "fill_b")
    assert not set(only(fill, Touch).items[0].cells) & set(only(copy, Touch).items[0].cells)


# ---- tensors -----------------------------------------------------------------------------------------------

THROUGH = """
    params: {y: {dtype: f32, shape: [n, 128]}}
    workspace: {w: {dtype: f32, shape: [128]}}
    launch: {grid: [1]}
    resources: {ready: {kind: signal}}
    work:
      put: {writes: [w], cuda: "w(task.thread) = 1;"}
      get: {reads: [w], writes: [y], cuda: "y(0, task.thread) = w(task.thread);"}
    tasks:
      first: {warps: 4, schedule: [{acquire: ready}, {do: put}, {commit: ready}]}
      second: {warps: 4, schedule: [{wait: ready}, {do: get}, {release: ready}]}
"""


def test_tensor_that_one_task_writes_and_another_reads_needs_order() -> None:
    assert alarms(THROUGH) == []
    assert alarms(THROUGH.replace("{wait: ready}, {do: get}", "{do: get}, {wait: ready}")) == ["race"]
    found = translated(THROUGH)
    assert [(one.kind, one.name, one.task) for one in found.segments] == [("tensor", "w", "first")]


def test_tensors_that_are_only_written_are_not_followed() -> None:
    assert not any(source.kind == "tensor" for source in translated(COPY).segments)


def test_places_that_move_are_followed_in_the_first_rounds() -> None:
    found = translated(MOVING)
    assert [source.name for source in found.segments if source.kind == "tensor"] == ["w", "w"]
    assert alarms(MOVING) == []
    wait, load = "              - wait: made\n", "              - {bulk_load: w, at: [loop, 0], to: xs}\n"
    assert alarms(MOVING.replace(wait + load, load + wait)) == ["race"]
    # The next round is made while this one is read: their places are apart.
    release, commit = "              - release: made\n", "              - commit: xs\n"
    assert alarms(MOVING.replace(release + commit, commit + release)) == []


MOVING = """
    params: {y: {dtype: f32, shape: [n, 256]}}
    workspace: {w: {dtype: f32, shape: [n, 256]}}
    launch: {grid: [1]}
    resources:
      made: {kind: signal, stages: 2}
      xs: {kind: smem, stages: 4, dtype: f32, shape: [256]}
    work:
      make: {writes: [w], cuda: "w(loop, task.thread) = loop;"}
      use: {reads: [xs], writes: [y], cuda: "y(loop, task.thread) = xs(task.thread);"}
    tasks:
      make: {warps: 4, schedule: [{domain_loop: n, body: [{acquire: made}, {do: make}, {commit: made}]}]}
      use: {warps: 4, schedule: [{domain_loop: n, body: [{wait: xs}, {do: use}, {release: xs}]}]}
      load:
        warps: 1
        schedule:
          - domain_loop: n
            body:
              - acquire: xs
              - wait: made
              - {bulk_load: w, at: [loop, 0], to: xs}
              - release: made
              - commit: xs
"""


BOTH = """
    params: {y: {dtype: f32, shape: [n, 128]}}
    workspace: {w: {dtype: f32, shape: [2, n, 128]}}
    resources: {s: {kind: smem, dtype: f32, shape: [1]}}
    launch: {grid: [1]}
    work:
      add: {updates: [w], writes: [y], cuda: "w(PLACE, loop, task.thread) += 1; y(loop, task.thread) = 1;"}
    tasks:
      use: {warps: 4, replicas: 2, schedule: [{domain_loop: n, start: replica, step: 2, body: [{do: add}]}]}
"""


def test_replicas_with_places_of_their_own_need_no_order() -> None:
    assert alarms(BOTH.replace("PLACE", "replica")) == []
    # Lanes never come to the same row.
    assert alarms(BOTH.replace("PLACE", "0")) == []
    assert alarms(BOTH.replace("PLACE", "0").replace("start: replica, step: 2, ", "")) == ["race"]


# ---- clusters ----------------------------------------------------------------------------------------------

SHARED = """
    params: {x: {dtype: f32, shape: [m, 256]}, y: {dtype: f32, shape: [m, 256]}}
    launch: {cluster: {row: 2}}
    resources:
      tiles: {kind: queue, policy: static, axes: {row: m}}
      xs: {kind: smem, stages: 4, dtype: f32, shape: [256]}
    work:
      use: {reads: [xs], writes: [y], cuda: "y(tile.row, task.thread) = xs(task.thread);"}
    tasks:
      use: {warps: 4, schedule: [{work_tile_loop: tiles, body: [{wait: xs}, {do: use}, {release: xs}]}]}
      load:
        warps: 1
        schedule:
          - work_tile_loop: tiles
            body: [{acquire: xs}, {tma_load: x, at: [0, 0], to: xs, multicast: row}, {commit: xs}]
"""


def test_each_cta_loads_its_share_into_both() -> None:
    found = translated(SHARED)
    assert [source.cta for source in found.agents] == [0, 1, 0, 1]
    loads = [only(agent(found, "load", cta), Load) for cta in range(2)]
    written = [
        {one for target in load.targets for stage in target.item.cells for one in stage} for load in loads
    ]
    assert not written[0] & written[1] and len(written[0]) == 8
    [item] = only(agent(found, "use", 1), Touch).items
    assert {one for stage in item.cells for one in stage} <= written[0] | written[1]
    for cta in range(2):
        # The own arrival and the bytes of the other; four warps of both.
        assert barrier(found, "xs", "full", cta).count == 2
        assert barrier(found, "xs", "empty", cta).count == 8
    assert alarms(SHARED) == []


def test_ctas_that_share_nothing_are_one() -> None:
    found = translated(SHARED.replace(", multicast: row", ""))
    assert [source.cta for source in found.agents] == [0, 0]


def test_ctas_that_a_schedule_tells_apart_are_all_there() -> None:
    text = SHARED.replace(", multicast: row", "").replace("row: 2", "row: 3")
    body = "{acquire: xs}, {tma_load: x, at: [0, 0], to: xs}, {commit: xs}"
    text = text.replace(f"[{body}]", f"[{{when: cluster.row < 2, then: [{body}]}}]")
    found = translated(text)
    assert len(found.agents) == 6
    assert alarms(text) == ["deadlock"]


def test_many_ctas_are_two_an_axis() -> None:
    found = translated(SHARED.replace("row: 2", "row: 8"))
    assert len(found.agents) == 4
    assert [barrier(found, "xs", side).count for side in ("full", "empty")] == [2, 8]


def test_pair_counts_bytes_and_releases_at_its_leader() -> None:
    found = translated(PAIR, head="tsc: 1\nkernel: k\ntarget: sm_100a\n")
    assert [(source.label, source.cta) for source in found.agents] == [
        *(("epilogue", 0), ("epilogue", 1), ("load", 0), ("load", 1), ("mma", 0))
    ]
    full = [target.barrier for cta in range(2) for target in only(agent(found, "load", cta), Load).targets]
    assert full[0] == full[1] and found.barriers[full[0]].cta == 0
    assert barrier(found, "ab", "full").count == 2
    release, commit = every(agent(found, "mma"), Arrive)
    assert [found.barriers[index].cta for index in (*release.barriers, *commit.barriers)] == [0, 1, 0, 1]
    gives = [only(agent(found, "epilogue", cta), Arrive).barriers for cta in range(2)]
    assert gives[0] == gives[1] and barrier(found, "acc", "empty").count == 8
    assert alarms(PAIR, head="tsc: 1\nkernel: k\ntarget: sm_100a\n") == []


PAIR = """
    params: {a: {dtype: bf16, shape: [m, k]}, d: {dtype: f32, shape: [m, 128]}}
    dims: {k: {min: 1}}
    launch: {cluster: {row: 2}, cta_group: 2}
    resources:
      tiles: {kind: queue, policy: static, axes: {row: "cdiv(m, 128)"}}
      ab: {kind: smem, stages: 2, dtype: bf16, shape: [128, 64]}
      acc: {kind: tmem, stages: 2, dtype: f32, shape: [128, 256]}
      out: {kind: registers, dtype: f32, shape: [128, 256]}
    tasks:
      epilogue:
        warps: 4
        schedule: [{work_tile_loop: tiles, body: [{wait: acc}, {tcgen05_ld: out, from: acc}, {release: acc}]}]
      load:
        warps: 1
        schedule:
          - work_tile_loop: tiles
            body:
              - domain_loop: cdiv(k, 64)
                body: [{acquire: ab}, {tma_load: a, at: [tile.row * 128, loop * 64], to: ab}, {commit: ab}]
      mma:
        warps: 1
        schedule:
          - work_tile_loop: tiles
            body:
              - acquire: acc
              - domain_loop: cdiv(k, 64)
                body: [{wait: ab}, {tcgen05_mma: acc, a: ab, b: ab, accumulate: false}, {release: ab}]
              - commit: acc
"""


# ---- the leader of a task, and what the generator puts in --------------------------------------------------

LED = """
    params: {x: {dtype: f32, shape: [n, 256]}, y: {dtype: f32, shape: [n, 256]}}
    launch: {grid: [1]}
    resources:
      xs: {kind: smem, stages: 4, dtype: f32, shape: [256]}
      note: {kind: smem, dtype: f32, shape: [256]}
    work:
      mark: {writes: [note], cuda: "note(task.thread) = loop;"}
      use: {reads: [xs, note], writes: [y], cuda: "y(loop, task.thread) = xs(0) + note(task.thread);"}
    tasks:
      use:
        warps: 4
        schedule:
          - domain_loop: n
            body: [{wait: xs}, {do: use}, {release: xs}]
      load:
        warps: 4
        schedule:
          - domain_loop: n
            body: [{acquire: xs}, {do: mark}, {bulk_load: x, at: [loop, 0], to: xs}, {commit: xs}]
"""


def test_leader_that_waits_for_all_is_an_agent_of_its_own() -> None:
    found = translated(LED.replace("stages: 4", "stages: 1"))
    leader, others = agent(found, "load", part="leader"), agent(found, "load", part="others")
    assert "Load" in verbs(leader) and "Touch" not in verbs(leader)
    assert "Load" not in verbs(others) and "Touch" in verbs(others)
    assert barrier(found, "load", "task").count == 2
    # They meet behind the leader's wait, and before it arrives for all.
    assert len(every(others, Wait)) == len(every(leader, Wait)) - 1 == 2
    assert alarms(LED.replace("stages: 4", "stages: 1")) == []


def test_without_the_derived_syncs_the_leader_runs_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "find_hazards", lambda *_: Hazards())
    assert alarms(LED.replace("stages: 4", "stages: 1")) == ["race"]


def test_loader_of_many_warps_that_only_loads_is_one_agent() -> None:
    found = translated(LED.replace("{do: mark}, ", "").replace("[xs, note]", "[xs]"))
    assert [source.part for source in found.agents] == ["all", "all"]


def test_fences_are_those_of_the_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    proxies = of_file("tests/emit/cases/proxies.tsc.yaml")
    assert prove(proxies.system).outcome == "proved"
    assert len(every(agent(proxies, "store"), Fence)) == 1  # cp.async wrote what it stores
    assert len(every(agent(proxies, "update"), Fence)) == 1
    monkeypatch.setattr(frame, "find_hazards", lambda *_: Hazards())
    assert prove(of_file("tests/emit/cases/proxies.tsc.yaml").system).outcome == "refuted"


# ---- the queue ---------------------------------------------------------------------------------------------


def test_answers_of_a_dynamic_queue_are_a_ring() -> None:
    found = of_file("tests/rules/accept/persistent_from_hardware.tsc.yaml")
    queue = found.program.queue
    assert queue is not None and queue.policy == "clc"
    fetch = agent(found, "tiles.fetch")
    assert verbs(fetch) == ["Wait", "Load", "Arrive", "Wait", "Touch", "Arrive"]
    assert barrier(found, "tiles", "full").count == 1
    assert barrier(found, "tiles", "empty").count == sum(
        1 if task.single else task.warps or 0 for task in found.program.tasks
    )
    assert prove(found.system).outcome == "proved"


def test_tiles_by_number_need_no_protocol() -> None:
    found = of_file("tests/rules/accept/persistent_in_sight.tsc.yaml")
    assert {source.owner for source in found.barriers} == {"ring"}


def test_skippable_asks_once_a_tile() -> None:
    found = of_file("tests/rules/accept/skipped_tiles.tsc.yaml")
    asked = [node.test for one in found.system.agents for node in nodes(one.body) if isinstance(node, If)]
    assert len(asked) == 2 and asked[0] == asked[1]
