"""Programs as systems: counters, barriers and their counts, engines, order, and what is told of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prove.translated import (
    COPY,
    ROOT,
    agent,
    alarms,
    all_instructions,
    barrier,
    every,
    nodes,
    of_file,
    only,
    translated,
    verbs,
)
from tsc.emit.kernel import Kernel
from tsc.emit.layout import barriers
from tsc.prove.machine import (
    Arrive,
    Bound,
    Cursor,
    Exceeds,
    If,
    Item,
    Load,
    Loop,
    Move,
    Touch,
    Wait,
)
from tsc.prove.proof import prove
from tsc.prove.translate import Translation

SHIPPED = sorted((ROOT / "specs").rglob("*.tsc.*"))
GENERATED = [*SHIPPED, *sorted((ROOT / "tests/emit/cases").glob("*.tsc.*"))]
ACCEPTED = sorted((ROOT / "tests/rules/accept").glob("*.tsc.*"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_ships_is_proved(path: Path) -> None:
    found = of_file(str(path))
    assert found.unmodelled == ()
    verdict = prove(found.system)
    assert (verdict.outcome, verdict.alarms) == ("proved", ())


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_every_instruction_knows_its_step(path: Path) -> None:
    found = of_file(str(path))
    assert found.unmodelled == ()
    system, program = found.system, found.program
    assert len(found.agents) == len(system.agents)
    assert len(found.barriers) == len(system.barriers)
    assert len(found.segments) == len(system.segments)
    routes = {step.route for task in program.tasks for step in task.steps()}
    assert {one.route for one in all_instructions(found)} <= routes
    assert {source.label for source in found.agents} - {None} == {task.label for task in program.tasks}


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_barriers_count_what_the_generated_code_sets_them_up_for(path: Path) -> None:
    found = of_file(str(path))
    program, counts = found.program, dict[str, int]()
    for source, one in zip(found.barriers, found.system.barriers, strict=True):
        memory = program.memories.get(ring_of(found, source.owner))
        several = source.side in SIDES and memory is not None and memory.copies > 1
        if source.side in SIDES and source.cta == 0:
            name = f"{source.owner}.{source.side}" + (f"[{source.copy}]" if several else "")
            counts[name] = one.count
    set_up = {one.name: one.arrivals for one in barriers(Kernel(program))}
    shared = any(pipeline.multicast for pipeline in program.pipelines.values())
    # A full barrier that hears of the loads of other CTAs counts these for their bytes.
    told = {name: count for name, count in counts.items() if not (shared and ".full" in name)}
    queue = program.queue
    if queue is not None and queue.dynamic:
        assert {f"{queue.name}.full", f"{queue.name}.empty"} <= counts.keys()
    assert told == {name: set_up[name] for name in told}


SIDES = ("full", "empty")


def ring_of(found: Translation, owner: str) -> str:
    group = found.program.groups.get(owner)
    return owner if group is None else group.members[0]


# ---- rings -------------------------------------------------------------------------------------------------


def test_ring_has_four_counters_and_two_barriers() -> None:
    found = translated(COPY)
    use, load = agent(found, "use"), agent(found, "load")
    assert verbs(use) == ["Wait", "Touch", "Arrive"]
    assert verbs(load) == ["Wait", "Load", "Arrive"]
    full, empty = barrier(found, "xs", "full"), barrier(found, "xs", "empty")
    assert (full.count, empty.count) == (1, 4)
    wait, release = only(use, Wait), only(use, Arrive)
    assert found.system.barriers[wait.barrier] == full and wait.lag == 0
    assert [found.system.barriers[index] for index in release.barriers] == [empty]
    assert (release.weight, release.upto, release.keep, release.engine) == (4, wait.cursor, 0, None)
    acquire, load_, commit = only(load, Wait), only(load, Load), only(load, Arrive)
    assert found.system.barriers[acquire.barrier] == empty and acquire.lag == 1
    assert commit.upto == acquire.cursor and commit.weight == 1
    [target] = load_.targets
    assert found.system.barriers[target.barrier] == full
    assert (target.item.cursor, target.item.back, target.item.write) == (acquire.cursor, 1, True)
    assert len(use.cursors) == len(load.cursors) == 2
    assert [taker.barrier for taker in found.system.takers] == [wait.barrier]


def test_reads_of_a_stage_ask_for_its_own_fill() -> None:
    found = translated(COPY)
    [item] = only(agent(found, "use"), Touch).items
    assert item.filled and not item.fresh
    assert only(agent(found, "load"), Wait).clears == item.cells
    assert len(set(item.cells)) == 4


def test_keep_stands_at_the_arrival() -> None:
    text = COPY.replace("{release: xs}]", "{release: xs, keep: 2}]\n          - release: xs")
    first, last = every(agent(translated(text), "use"), Arrive)
    assert (first.keep, last.keep) == (2, 0)
    assert alarms(text) == []


def test_release_of_what_was_only_observed_gives_nothing_back() -> None:
    # The generated code counts what it holds, and an observed stage is not held.
    text = COPY.replace("{wait: xs}", "{wait: xs, observe: true}")
    assert not every(agent(translated(text), "use"), Arrive)
    assert "deadlock" in alarms(text)


def test_release_before_the_read_is_a_race() -> None:
    assert alarms(COPY.replace("{do: use}, {release: xs}", "{release: xs}, {do: use}")) == ["race"]


def test_lanes_start_apart() -> None:
    text = COPY.replace("shape: [256]}\n    work", "shape: [256], interleave: {consumer: 2}}\n    work")
    text = text.replace("warps: 4\n        schedule:\n          - domain_loop: n", LANES)
    found = translated(text)
    starts = [agent(found, f"use[{i}]").cursors for i in range(2)]
    assert all((one.start, one.stride) == (i, 2) for i, cursors in enumerate(starts) for one in cursors)
    assert barrier(found, "xs", "empty").count == 4
    assert alarms(text) == []


LANES = """warps: 4
        replicas: 2
        schedule:
          - domain_loop: n
            start: replica
            step: 2"""

HALVES = """
    params: {y: {dtype: f32, shape: [n, 128]}}
    launch: {grid: [1]}
    resources:
      xs: {kind: smem, stages: 4, released_by: one, dtype: f32, shape: [128]}
    work:
      fill: {writes: [xs], cuda: "xs(task.thread) = loop;"}
      use: {reads: [xs], writes: [y], cuda: "y(loop, task.thread) = xs(task.thread);"}
    tasks:
      fill: {warps: 4, schedule: [{domain_loop: n, body: [{acquire: xs}, {do: fill}, {commit: xs}]}]}
      even:
        warps: 4
        schedule:
          - domain_loop: n
            body:
              - when: loop % 2 == 0
                then: [{wait: xs}, {do: use}, {release: xs}]
                else: [{skip: xs, count: 1}]
      odd:
        warps: 4
        schedule:
          - domain_loop: n
            body:
              - when: loop % 2 == 1
                then: [{wait: xs}, {do: use}, {release: xs}]
                else: [{skip: xs, count: 1}]
"""


def test_skipped_stages_move_both_counters() -> None:
    found = translated(HALVES)
    even = agent(found, "even")
    assert set(only(even, Move).cursors) == {only(even, Wait).cursor, only(even, Arrive).cursor}
    assert barrier(found, "xs", "empty").count == 4
    assert len(found.system.takers) == 2
    assert alarms(HALVES) == []
    # A fill that both of them leave is one that nobody takes.
    assert "leftover" in alarms(HALVES.replace("- domain_loop: n\n", "- domain_loop: n - 1\n"))


def test_skip_of_many_stages_is_a_loop() -> None:
    text = HALVES.replace("{skip: xs, count: 1}", "{skip: xs, count: n}")
    loops = [node for node in nodes(agent(translated(text), "even").body) if isinstance(node, Loop)]
    assert [type(loop.body[0]) for loop in loops] == [If, Move]
    assert loops[0].bound == loops[1].bound


def test_merge_shares_the_empty_barrier() -> None:
    found = of_file("tests/emit/cases/groups.tsc.yaml")
    assert barrier(found, "both", "empty").count == 4
    add = agent(found, "add")
    waits = [found.barriers[wait.barrier].owner for wait in every(add, Wait)]
    assert waits == ["ps", "qs", "xs", "rs"]
    release, commit = every(add, Arrive)
    assert [found.barriers[index].owner for index in release.barriers] == ["both"]
    assert [found.barriers[index].owner for index in commit.barriers] == ["pair"]
    assert found.barriers[only(agent(found, "load_x"), Wait).barrier].owner == "both"
    assert found.barriers[only(agent(found, "second"), Wait).barrier].owner == "pair"


def test_observer_is_no_taker_and_who_takes_by_it_looks_at_no_barrier() -> None:
    found = of_file("tests/emit/cases/observe.tsc.yaml")
    use = agent(found, "use")
    assert verbs(use) == ["Wait", "Move", "Touch", "Arrive", "Arrive"]
    takers = {
        (found.agents[one.agent].label, found.barriers[one.barrier].owner) for one in found.system.takers
    }
    assert takers == {("use", "ring"), ("use", "seen")}


def test_early_arrival_stands_behind_its_load() -> None:
    """Both commits come with their loads, the first before the wait for the second ring."""
    text = COPY.replace(
        "{acquire: xs}, {bulk_load: x, at: [loop, 0], to: xs}, {commit: xs}",
        "{acquire: xs}, {bulk_load: x, at: [loop, 0], to: xs}, {acquire: more}, {commit: xs}, "
        "{bulk_load: x, at: [loop, 0], to: more}, {commit: more}",
    ).replace("resources:", "resources:\n      more: {kind: smem, stages: 2, dtype: f32, shape: [256]}")
    text = text.replace("{wait: xs}", "{wait: more}, {release: more}, {wait: xs}")
    assert verbs(agent(translated(text), "load")) == ["Wait", "Load", "Arrive", "Wait", "Load", "Arrive"]


# ---- order -------------------------------------------------------------------------------------------------


def test_turn_goes_round() -> None:
    found = of_file("tests/rules/accept/turns.tsc.yaml")
    waits = [only(agent(found, f"bump[{i}]"), Wait) for i in range(2)]
    assert [wait.lag for wait in waits] == [1, 0]
    arrives = [only(agent(found, f"bump[{i}]"), Arrive) for i in range(2)]
    assert [one.barriers for one in arrives] == [(waits[1].barrier,), (waits[0].barrier,)]
    assert {found.barriers[wait.barrier].participant for wait in waits} == {"bump[0]", "bump[1]"}


def test_named_barrier_counts_threads_and_who_only_arrives_waits_for_nobody() -> None:
    found = of_file("tests/rules/accept/named_barriers.tsc.yaml")
    assert barrier(found, "filled", "barrier").count == 256
    assert verbs(agent(found, "first")) == ["Touch", "Arrive"]
    assert verbs(agent(found, "second")) == ["Arrive", "Wait", "Touch"]
    assert len(agent(found, "first").cursors) == 1


PDL = COPY.replace(
    "          - domain_loop: n\n            body: [{acquire",
    "          - pdl_wait\n          - domain_loop: n\n            body: [{acquire",
)


def test_kernel_before_ends_where_it_is_waited_for() -> None:
    found = translated(PDL)
    assert found.agents[0].label is None
    assert verbs(found.system.agents[0]) == ["Touch", "Arrive"]
    outside, _ = every(agent(found, "use"), Touch)
    [item] = outside.items
    assert found.segments[item.cells[0][0]].kind == "outside" and not item.write
    assert verbs(agent(found, "load")) == ["Wait", "Wait", "Touch", "Load", "Arrive"]
    assert alarms(PDL) == []
    assert alarms(PDL.replace("{wait: xs}", "{do: early}, {wait: xs}").replace("work:", EARLY)) == ["race"]


EARLY = 'work:\n      early: {reads: [x], cuda: "(void)x(loop, 0);"}'


def test_constant_params_need_no_wait() -> None:
    text = PDL.replace("{wait: xs}", "{do: early}, {wait: xs}").replace("work:", EARLY)
    assert (
        alarms(
            text.replace(
                "x: {dtype: f32, shape: [n, 256]}", "x: {dtype: f32, shape: [n, 256], constant: true}"
            )
        )
        == []
    )


def test_split_loop_is_one_loop() -> None:
    found = of_file("tests/rules/accept/split_loop.tsc.yaml")
    for one in found.system.agents:
        loops = [node for node in nodes(one.body) if isinstance(node, Loop)]
        assert len(loops) <= 1


def test_last_round_asks_the_bound_of_its_loop() -> None:
    text = COPY.replace("{do: use}, {release: xs}", "{do: use}, {last_iter: [{release: xs}]}")
    use = agent(translated(text), "use")
    [loop] = [node for node in use.body if isinstance(node, Loop)]
    [guard] = [node for node in loop.body if isinstance(node, If)]
    assert guard.test == Exceeds(loop.bound, 1, 0, value=False)
    assert loop.bound == Bound(0)


def test_loops_in_which_nothing_is_followed_are_left_out() -> None:
    found = of_file("specs/copy/grid_stride.tsc.yaml")
    assert [one.body for one in found.system.agents] == [()]


def test_item_of_a_plain_place_has_no_stage() -> None:
    found = of_file("tests/rules/accept/named_barriers.tsc.yaml")
    [item] = only(agent(found, "second"), Touch).items
    assert item == Item(((0,),), False, fresh=True)
    assert agent(found, "second").cursors == (Cursor(0), Cursor(0))
