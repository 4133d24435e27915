"""Loop bounds and conditions as questions: what is one, what is two, and what is decided."""

from __future__ import annotations

import pytest

from tests.prove.asking import asked, loop, queued, task, when
from tsc.program.tree import Guard, Loop
from tsc.prove.asked import FALSE, TRUE
from tsc.prove.asked.model import opposite
from tsc.prove.machine import Ask, Bound, Exceeds, InRounds
from tsc.prove.verdict import Answer


@pytest.mark.parametrize(
    ("end", "more", "bound", "start", "step"),
    [
        ("n + 1", "", Bound(0, 1, 1), 0, 1),
        ("2 * n", "", Bound(0, 2, 0), 0, 1),
        ("3 + 2 * n - 1", "", Bound(0, 2, 2), 0, 1),
        ("n", "start: 1,", Bound(0, 1, 0), 1, 1),
        ("n + m", "start: m,", Bound(0, 1, 0), 0, 1),
        ("-1", "start: n - 1, step: -1,", Bound(0, 1, 0), 0, 1),
        ("0", "start: n - 1, step: -1,", Bound(0, 1, -1), 0, 1),
        ("64 * n", "step: 64,", Bound(0, 1, 0), 0, 1),
    ],
)
def test_linear_relations_are_one_number(end: str, more: str, bound: Bound, start: int, step: int) -> None:
    found = asked(task("a", loop("n")) + ", " + task("b", loop(end, more=more)))
    assert len(found.questions.numbers) == 1
    assert found.loops[1].bound == bound
    assert (found.loops[1].start, found.loops[1].step) == (start, step)


def test_lanes_stand_in_the_values_of_all_rounds() -> None:
    lanes = task("lanes", loop("n", more="start: replica, step: 3,"), more="replicas: 3,")
    found = asked(f"{lanes}, {task('all', loop('n'))}")
    assert found.bounds == [Bound(0)] * 4
    assert [(one.start, one.step) for one in found.loops] == [(0, 3), (1, 3), (2, 3), (0, 1)]


def test_lanes_of_blocks_stand_in_the_values_of_all_blocks() -> None:
    lanes = task("lanes", loop("k", more="start: replica * 64, step: 128,"), more="replicas: 2,")
    found = asked(f"{lanes}, {task('all', loop('k', more='step: 64,'))}, {task('too', loop('cdiv(k, 64)'))}")
    assert found.bounds == [Bound(0)] * 4
    assert [(one.start, one.step) for one in found.loops] == [(0, 2), (1, 2), (0, 1), (0, 1)]


def test_counts_known_when_built() -> None:
    found = asked(
        task("a", loop("8"), "{for: 2000, as: i, body: [task_sync]}", "{for: 1998, as: i, body: [task_sync]}")
    )
    assert found.bounds == [Bound(None, 1, 8), Bound(0), Bound(0, 1, -2)]
    (number,) = found.questions.numbers
    assert (number.lo, number.hi, number.depth) == (64, None, 0)
    # What the number is in truth is not forgotten.
    assert found.questions.consistent([Answer(0, (), 2500, True)]) is False


def test_a_number_knows_its_least_value_and_the_promise_for_it() -> None:
    found = asked(
        task(
            "a",
            loop("cdiv(k, 64)"),
            loop("max(n, 2)").replace("domain_loop", "for").replace("body", "as: i, body"),
        )
    )
    assert [(number.lo, number.hi) for number in found.questions.numbers] == [(1, None), (2, None)]
    found = asked(task("a", loop("cdiv(k, 64)")), "launch: {grid: [1]}\ndims: {k: {min: 100}}")
    assert [number.lo for number in found.questions.numbers] == [2]
    assert found.promises == {"`k` keeps to `min: 100`"}


def test_depths() -> None:
    body = ", ".join(
        (
            "{for: n, as: i, body: [task_sync]}",
            "{for: 't[tile.r]', as: i, body: [task_sync]}",
            loop("k", "{for: 't[loop]', as: i, body: [task_sync]}", "{for: loop, as: i, body: [task_sync]}"),
        )
    )
    found = queued(task("a", f"{{work_tile_loop: tiles, body: [{body}]}}"))
    assert [number.depth for number in found.questions.numbers] == [0, 0, 1, 0, 2, 2]


def test_tiles() -> None:
    schedule = task("a", "{work_tile_loop: tiles, body: [task_sync]}")
    assert queued(schedule, policy="grid").bounds == [Bound(None, 1, 1)]
    found = queued(schedule)
    assert found.bounds == [Bound(0)]
    assert (found.questions.numbers[0].lo, found.questions.numbers[0].hi) == (1, None)


def test_opposite_conditions_are_one_fact() -> None:
    conditions = (
        "mode < 3",
        "3 > mode",
        "not (mode < 3)",
        "mode >= 3",
        "mode == n",
        "n != mode",
        "0 == n - mode",
    )
    found = asked(task("a", *map(when, conditions)))
    assert len(found.questions.facts) == 2
    first, second = Ask(0), Ask(1)
    less = found.tests[0]
    assert less in (first, opposite(first))
    assert found.tests[:4] == [less, less, opposite(less), opposite(less)]
    assert found.tests[4:] == [second, opposite(second), second]


def test_a_number_of_rounds_is_compared_as_itself() -> None:
    outer = ", ".join(map(when, ("cdiv(k, 64) > 3", "k > 128", "k == 0")))
    inner = map(when, ("trips > 3", "iter < trips - 2", "loop == trips - 1", "loop < cdiv(k, 64)"))
    found = asked(task("a", outer, loop("cdiv(k, 64)", *inner)))
    number = Bound(0)
    assert found.tests[0] == Exceeds(number, 3, None)
    assert found.tests[3] == Exceeds(number, 3, None)
    assert found.tests[4] == Exceeds(Bound(0, 1, -2), 0, 0)
    assert found.tests[5] == Exceeds(Bound(0, 1, -1), 0, 0, value=False)
    assert found.tests[6] == TRUE


def test_rounds_of_lanes_are_compared_with_their_number() -> None:
    guards = map(when, ("iter < trips - 1", "iter == trips - 1", "trips >= 2", "iter > 0"))
    lanes = task("lanes", loop("n", *guards, more="start: replica, step: 2,"), more="replicas: 2,")
    found = asked(lanes)
    for i, start in ((0, 0), (4, 1)):
        assert found.tests[i] == Exceeds(Bound(0), 2, 0)
        assert found.tests[i + 1] == Exceeds(Bound(0), 2, 0, value=False)
        assert found.tests[i + 2] == Exceeds(Bound(0), start + 2, None)
        assert found.tests[i + 3] == InRounds((False,), (True,))


def test_round_guards() -> None:
    guards = (
        "{first_iter: [task_sync]}",
        "{last_iter: [task_sync]}",
        "{every: 3, start: 1, body: [task_sync]}",
    )
    found = asked(task("a", loop("n", *guards, more="start: 1, step: 2,")))
    here = found.loops[0]
    assert found.tests == [
        InRounds((True,), (False,)),
        Exceeds(here.bound, here.step, 0, value=False),
        InRounds((False,), (True, False, False)),
    ]


def test_the_tile_and_outer_loops_are_asked_by_their_level() -> None:
    inner = (
        "{for: n, as: i, body: [" + ", ".join(map(when, ("tile.seq % 2 == 0", "loop < m", "i < m"))) + "]}"
    )
    found = queued(task("a", f"{{work_tile_loop: tiles, body: [{loop('k', inner)}]}}"))
    assert found.tests[0] == InRounds((), (True, False), 2)
    assert isinstance(found.tests[1], Exceeds) and found.tests[1].up == 1
    assert isinstance(found.tests[2], Exceeds) and found.tests[2].up == 0


def test_what_ranges_and_loops_decide() -> None:
    conditions = ("n >= 0", "n < 0", "n % 2 < 2", "max(n, 1) > 0", "n > 0 or n <= 0")
    found = asked(
        task("a", *map(when, conditions), loop("n", when("loop < n"), when("n > 0"), when("loop > n")))
    )
    assert found.tests == [TRUE, FALSE, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE]
    assert not found.questions.promises
    dims = "launch: {grid: [1]}\ndims: {n: {min: 1, multiple_of: 8}}\nassert: [m > 2]"
    found = asked(task("a", *map(when, ("n > 0", "n % 4 == 0", "m > 1"))), dims)
    assert found.tests == [TRUE, TRUE, TRUE]
    assert found.promises == {"`n` keeps to `min: 1`", "`n` keeps to `multiple_of: 8`", "`m > 2` holds"}


def test_a_dim_and_its_share_are_one_number() -> None:
    dims = "launch: {grid: [1]}\ndims: {n: {multiple_of: 4}}"
    found = asked(
        task("a", loop("n // 2"), loop("cdiv(n, 4)")) + ", " + task("b", loop("n"), when("n > 6")), dims
    )
    assert found.bounds == [Bound(0, 2), Bound(0), Bound(0, 4)]
    assert found.tests == [Exceeds(Bound(0), 1, None)]
    assert found.promises == {"`n` keeps to `multiple_of: 4`"}
    apart = asked(task("a", loop("n // 5")) + ", " + task("b", loop("n")), dims)
    assert apart.bounds == [Bound(0), Bound(1)]
    assert not apart.promises


def test_places_of_a_cluster() -> None:
    conditions = ("tile.r > 2", "tile.c > 3", "tile.r % 2 == 0", "cluster.r == 0", "mode > 3")
    schedule = task("a", f"{{work_tile_loop: tiles, body: [{', '.join(map(when, conditions))}]}}")
    found = queued(schedule, "launch: {cluster: {r: 2}}")
    one, two = found.again({"r": 0}), found.again({"r": 1})
    assert one[1] == two[1] and one[4] == two[4]
    assert (one[2], two[2]) == (TRUE, FALSE) and (one[3], two[3]) == (TRUE, FALSE)
    # 2 u > 2 and 2 u + 1 > 2 differ: u is 2 or more for one, 1 or more for the other.
    assert one[0] != two[0]


def test_keys() -> None:
    a = task("a", when("mode > 3", "key: late,"), loop("n", more="key: rows,"))
    b = task("b", when("n * n > 3", "key: late,"), loop("t[0]", when("trips > 2"), more="key: rows,"))
    found = asked(f"{a}, {b}")
    assert found.tests == [Ask(0), Ask(0), Exceeds(Bound(0), 2, None)]
    assert found.bounds == [Bound(0), Bound(0)]
    assert {
        "`key: late` is one value in all tasks",
        "`key: rows` is one value in all tasks",
    } <= found.promises


def test_tokens() -> None:
    call = "{do: pure, with: {i: %s}, out: [v]}"
    a = task("a", f"{{work_tile_loop: tiles, body: [{call % 'tile.r'}, {when('v > 3')}]}}")
    b = task("b", f"{{work_tile_loop: tiles, body: [{call % '0 + tile.r'}, {when('3 < v')}]}}")
    c = task("c", f"{{work_tile_loop: tiles, body: [{call % 'tile.c'}, {when('v > 3')}]}}")
    found = queued(f"{a}, {b}, {c}", works=True)
    assert found.tests[0] == found.tests[1] != found.tests[2]
    assert [fact.depth for fact in found.questions.facts] == [1, 1]


def test_names_in_a_text_count_as_arguments() -> None:
    body = f"{{do: here, out: [v]}}, {when('v > 3')}"
    schedule = f"{{work_tile_loop: tiles, body: [{body}]}}"
    found = queued(f"{task('a', schedule)}, {task('b', schedule)}", "launch: {cluster: {r: 2}}", works=True)
    one, two = found.again({"r": 0}), found.again({"r": 1})
    assert one[0] == one[1] != two[0] == two[1]


def test_private_values() -> None:
    again = "{do: own, out: [v]}"
    body = (
        again,
        when("v > 3"),
        when("v > 3"),
        again,
        when("v > 3"),
        "{do: vote}",
        when("last"),
        when("not last"),
    )
    schedule = f"{{work_tile_loop: tiles, body: [{', '.join(body)}]}}"
    found = queued(f"{task('a', schedule)}, {task('b', schedule)}", works=True)
    first, second, third, flag, other = found.tests[:5]
    assert first == second != third
    assert other == opposite(flag)
    assert not set(found.tests[:5]) & set(found.tests[5:])
    assert "all threads of `a` have the same value of the register `last`" in found.promises


def test_a_value_of_the_last_round_is_one_of_its_own() -> None:
    made = "{do: own, out: [v]}"
    found = asked(
        task("a", made, when("v > 3"), loop("n", when("v > 3"), made, when("v > 3")), when("v > 3")),
        works=True,
    )
    assert len(set(found.tests)) == 4
    assert [fact.depth for fact in found.questions.facts] == [1, 2, 2, 1]


def test_what_differs_between_threads() -> None:
    nodes = (when("thread < 32"), when("thread < 64"), loop("n", more="start: thread,"))
    found = asked(task("a", *nodes).replace("warps: 1", "warps: 2"))
    assert isinstance(found.tests[0], Ask) and found.tests[1] == TRUE
    guard, _, node = found.found.tasks[0].tree
    assert isinstance(guard, Guard) and isinstance(node, Loop)
    assert found.questions.apart(found.found.tasks[0], guard)
    assert found.questions.apart(found.found.tasks[0], node)


def test_a_tensor_that_the_kernel_writes_is_never_the_same_twice() -> None:
    write = "{do: put}"
    extra = 'launch: {grid: [1]}\nwork: {put: {writes: [t], cuda: "t(0) = 1;"}}'
    found = asked(task("a", when("t[0] > 1"), write, when("t[0] > 1")), extra)
    assert found.tests[0] != found.tests[1]
    found = asked(task("a", when("t[0] > 1"), when("t[0] > 1")))
    assert found.tests[0] == found.tests[1]


def test_a_floor_below_the_start_bounds_no_loop() -> None:
    found = asked(task("a", loop("n"), "{for: 'max(n, 0)', as: i, body: [task_sync]}"))
    assert found.bounds == [Bound(0), Bound(0)]


@pytest.mark.parametrize(
    "nodes",
    [
        (when("nobody > 3"),),
        ("{first_iter: [task_sync]}",),
        ("{skippable: [task_sync]}",),
        (loop("n", more="step: 0,"),),
        (loop("n", more="step: m - k,"),),
        (loop("nobody", when("loop > nobody")),),
        (when("tile.r > 3"), when("loop > 2"), when("iter > trips")),
        (when("n // 0 == 1"), when("x > 1"), when("n % 0")),
        (loop("n", "{every: 0, body: [task_sync]}"),),
    ],
)
def test_odd_programs_get_answers_of_their_own(nodes: tuple[str, ...]) -> None:
    asked(task("a", *nodes))


def test_what_a_loop_tells_of_its_bound_holds_only_inside() -> None:
    # Inside of the loop there is a round, so its number is 1 or more there; but not where the loop begins.
    found = asked(
        task("a", loop("n", "{for: n, as: i, body: [task_sync]}")), "launch: {grid: [1]}\ndims: {n: {min: 0}}"
    )
    assert [number.lo for number in found.questions.numbers] == [0]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_value_of_several_loops_has_the_bounds_of_all(names: str) -> None:
    inner = "{for: loop, as: i, body: [task_sync]}"
    tasks = {"a": task("a", loop("8", inner, more="start: 3,")), "b": task("b", loop("6", inner))}
    found = asked(", ".join(tasks[name] for name in names))
    (number,) = found.questions.numbers
    assert (number.lo, number.hi, number.depth) == (0, 7, 2)


def test_a_value_made_on_two_ways_is_neither() -> None:
    made, large = "{do: own, out: [v]}", when("v > 3")
    branch = f"{{when: n > 2, then: [{made}, {large}], else: [{made}, {large}]}}"
    found = asked(task("a", branch, large), works=True)
    assert len(set(found.tests[1:])) == 2
