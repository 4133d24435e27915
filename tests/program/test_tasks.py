"""Task instances: how many, on which warps, and which of them one thread runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.program.build import HEAD, program, tasks, verbs

SPEC = "params: {x: {dtype: f32, shape: [n]}}\nlaunch: {grid: [1]}\nresources: {}\ntasks:\n"


def with_tasks(*lines: str) -> dict[str, tuple[int | None, int | None]]:
    """Return first warp and warps of each task; a line is `name: options`."""
    text = SPEC + "".join(f"  {line.replace('}', ', schedule: [task_sync]}')}\n" for line in lines)
    found = program(text)
    return {label: (task.first_warp, task.warps) for label, task in tasks(found).items()} | {
        "": (found.threads, None)
    }


@pytest.mark.parametrize(
    ("lines", "first", "threads"),
    [
        (["a: {warps: 1}", "b: {warps: 2}"], {"a": 0, "b": 1}, 96),
        # Whole warpgroups come first, so that setmaxnreg and wgmma find them aligned.
        (["a: {warps: 1}", "b: {warps: 4}", "c: {warps: 2}"], {"a": 4, "b": 0, "c": 5}, 224),
        (["a: {warps: 3}", "b: {warps: 8}", "c: {warps: 4}"], {"a": 12, "b": 0, "c": 8}, 480),
        (["a: {warps: 2, replicas: 3}"], {"a[0]": 0, "a[1]": 2, "a[2]": 4}, 192),
        (["a: {warps: replica + 1, replicas: 3}"], {"a[0]": 0, "a[1]": 1, "a[2]": 3}, 192),
        # What the author places stands, and the others go around it.
        (["a: {warps: 1, first_warp: 0}", "b: {warps: 4}"], {"a": 0, "b": 1}, 160),
        (["a: {warps: 1, first_warp: 2}", "b: {warps: 2}", "c: {warps: 1}"], {"a": 2, "b": 0, "c": 3}, 128),
        (["a: {warps: 2, replicas: 2, first_warp: 2 - 2 * replica}"], {"a[0]": 2, "a[1]": 0}, 128),
        # Registers are set for whole warpgroups, so the last one is filled up.
        (["a: {warps: 1, registers: 40}"], {"a": 0}, 128),
        (["a: {warps: 1, registers: 40}", "b: {warps: 4}"], {"a": 4, "b": 0}, 256),
        (["a: {warps: 1}", "b: {warps: 4}"], {"a": 4, "b": 0}, 160),
    ],
)
def test_warps(lines: list[str], first: dict[str, int], threads: int) -> None:
    found = with_tasks(*lines)
    assert {label: found[label][0] for label in first} == first
    assert found[""][0] == threads


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=6))
def test_no_two_tasks_share_a_warp(shapes: list[tuple[int, int]]) -> None:
    found = with_tasks(*(f"t{i}: {{warps: {w}, replicas: {r}}}" for i, (w, r) in enumerate(shapes)))
    threads = found.pop("")[0]
    taken = sorted(
        warp for first, warps in found.values() for warp in range(first or 0, (first or 0) + (warps or 0))
    )
    assert taken == list(range(sum(w * r for w, r in shapes)))
    assert threads == 32 * len(taken)
    for first, warps in found.values():
        assert (warps or 0) % 4 or (first or 0) % 4 == 0


def test_unknown_warps_leave_no_place() -> None:
    found = program(
        SPEC + "  a: {warps: nothing, schedule: [task_sync]}\n  b: {warps: 1, schedule: [task_sync]}"
    )
    assert (found.threads, [task.first_warp for task in found.tasks]) == (None, [None, None])


ONE = """
params: {x: {dtype: f32, shape: [n]}, y: {dtype: f32, shape: [n]}}
launch: {grid: [1]}
resources:
  xs: {kind: smem, stages: 2, dtype: f32, shape: [1024]}
  v: {kind: registers, dtype: f32, per_thread: 1}
  order: {kind: turn}
  meet: {kind: barrier}
work: {look: {reads: [xs], cuda: look(xs);}}
tasks:
  t: {warps: 1, schedule: [%s]}
"""


@pytest.mark.parametrize(
    ("steps", "single"),
    [
        ("{acquire: xs}, {bulk_load: x, to: xs}, {commit: xs}", True),
        ("{wait: xs}, {bulk_store: y, from: xs}, {store_wait: 0}, {release: xs}", True),
        ("pdl_wait, {take: order}, {pass: order}, pdl_launch", True),
        ("{wait: xs}, {do: look}, {release: xs}", False),
        ("{acquire: xs}, {cp_async: x, to: xs}, {commit: xs}", False),
        ("{load: v, from: x, at: [thread]}", False),
        ("task_sync", False),
        ("{sync: meet}", False),
        ("{wait: xs}, {bulk_store: y, at: [lane], from: xs}, {release: xs}", False),
        ("{for: warp, as: i, body: [{wait: xs}, {release: xs}]}", False),
    ],
)
def test_one_thread_runs_what_needs_no_other(steps: str, single: bool) -> None:
    assert program(ONE % steps).task("t").single is single


def test_named_barriers_go_to_tasks_that_act_together() -> None:
    found = tasks(
        program(
            SPEC
            + """
  alone: {warps: 1, schedule: [task_sync]}
  copy: {warps: 4, schedule: [pdl_wait]}
  math: {warps: 4, replicas: 2, schedule: [task_sync]}
"""
        )
    )
    assert {label: task.barrier_id for label, task in found.items()} == {
        "alone": None,
        "copy": None,
        "math[0]": 1,
        "math[1]": 2,
    }


QUEUE = """
params: {x: {dtype: f32, shape: [n]}}
resources: {tiles: {kind: queue, policy: %s, axes: {m: n}}}
tasks:
  work: {warps: 4, schedule: [{work_tile_loop: tiles, body: [task_sync]}]}
"""


@pytest.mark.parametrize("policy", ["atomic", "clc"])
def test_dynamic_queue_has_a_scheduler_task(policy: str) -> None:
    found = program(QUEUE % policy, head=HEAD.replace("sm_90a", "sm_100a"))
    fetch = found.task("tiles.fetch")
    assert (fetch.derived, fetch.warps, fetch.first_warp, fetch.single) == (True, 1, 4, True)
    assert verbs(fetch) == [
        "acquire",
        "fetch_work_tile",
        "commit",
        "wait",
        "get_and_advance_work_tile",
        "release",
    ]


@pytest.mark.parametrize("policy", ["grid", "static"])
def test_other_queues_have_none(policy: str) -> None:
    assert [task.label for task in program(QUEUE % policy).tasks] == ["work"]


def test_written_scheduler_replaces_the_derived_one() -> None:
    found = program(
        """
        params: {x: {dtype: f32, shape: [n]}}
        resources: {tiles: {kind: queue, policy: atomic, axes: {m: n}}}
        tasks:
          next:
            warps: 1
            schedule:
              - work_tile_loop: tiles
                body:
                  - acquire: tiles
                  - fetch_work_tile: tiles
                  - commit: tiles
                  - wait: tiles
                  - get_and_advance_work_tile: tiles
                  - release: tiles
        """
    )
    assert [task.label for task in found.tasks] == ["next"]


def test_pair_products_run_in_the_leader() -> None:
    text = """
        params: {a: {dtype: bf16, shape: [m, 64]}}
        launch: {grid: [2], cluster: {x: 2}, cta_group: %d}
        resources:
          ab: {kind: smem, dtype: bf16, shape: [128, 64]}
          acc: {kind: tmem, dtype: f32, shape: [128, 128]}
        tasks:
          mma: {warps: 1, schedule: [{tcgen05_mma: acc, a: ab, b: ab}]}
          other: {warps: 1, schedule: [task_sync]}
        """
    head = HEAD.replace("sm_90a", "sm_100a")
    assert [task.ctas for task in program(text % 2, head=head).tasks] == ["leader", "all"]
    assert [task.ctas for task in program(text % 1, head=head).tasks] == ["all", "all"]


def test_turns_and_barriers_know_who_takes_part() -> None:
    found = program(
        """
        params: {x: {dtype: f32, shape: [n]}}
        launch: {grid: [1]}
        resources:
          order: {kind: turn}
          reverse: {kind: turn, order: ["math[1]", "math[0]"]}
          meet: {kind: barrier}
          own: {kind: barrier, per: math}
        tasks:
          math:
            warps: 4
            replicas: 2
            schedule:
              [{take: order}, {pass: order}, {take: reverse}, {pass: reverse}, {sync: meet}, {sync: own}]
          help: {warps: 1, schedule: [{arrive: meet}, {arrive: "own[1]"}]}
        """
    )
    orders = {key: order.participants for key, order in found.orders.items()}
    assert orders["order", 0] == ("math[0]", "math[1]")
    assert orders["reverse", 0] == ("math[1]", "math[0]")
    assert orders["meet", 0] == ("math[0]", "math[1]", "help")
    assert (orders["own", 0], orders["own", 1]) == (("math[0]",), ("math[1]", "help"))
    assert found.orders["meet", 0].threads == 2 * 128 + 32
    ids = [order.barrier_id for order in found.orders.values() if order.kind == "barrier"]
    assert ids == [3, 4, 5]  # behind those of the two instances of `math`
    assert found.smem_bytes == 8 * (2 + 2)  # an mbarrier for each participant of a turn
