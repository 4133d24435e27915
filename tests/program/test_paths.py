"""The walker over all paths against every run there is, on small random schedules."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.program.build import program
from tests.program.enumerate import Run
from tsc.program.model import Program
from tsc.program.paths import Walker
from tsc.program.tree import Step

# Every dim and scalar takes each of these values; loops are so short that no number beyond matters.
VALUES = range(5)
NAMES = ("n", "m")

OUTER = ("n > 0", "n > 2", "not (n > 2)", "n == m", "n <= 0", "m % 2 == 0", "n < 3 or m > 1", "0 < n")
INNER = (
    "iter == 0",
    "iter > 0",
    "iter > 1",
    "iter == trips - 1",
    "iter < trips - 1",
    "loop < 2",
    "trips > 1",
)
BOUNDS = ("n", "m", "n - 1", "3", "n * 2", "1", "max(1, m)")
HEAD = """
params: {x: {dtype: f32, shape: [n, m]}}
dims: {n: {min: 0}, m: {min: 0}}
launch: {grid: [1]}
resources: {r: {kind: signal, stages: 8}, tiles: {kind: queue, policy: %s, axes: {row: m}}}
tasks: {t: {warps: 1, schedule: %s}, other: {warps: 1, schedule: [{wait: r}, {release: r}]}}
"""

Tree = list[Any]
STEPS = st.sampled_from(["acquire", "commit", "wait", "release"]).map(lambda verb: {verb: "r"})


def guards(
    inner: st.SearchStrategy[Tree], conditions: tuple[str, ...], iteration: bool
) -> st.SearchStrategy[Any]:
    when = st.builds(
        lambda c, t, e: {"when": c, "then": t} | ({"else": e} if e else {}),
        st.sampled_from(conditions),
        inner,
        st.none() | inner,
    )
    when_false = st.builds(lambda c, b: {"when_false": c, "body": b}, st.sampled_from(conditions), inner)
    if not iteration:
        return when | when_false
    first = inner.map(lambda body: {"first_iter": body})
    last = inner.map(lambda body: {"last_iter": body})
    every = st.builds(
        lambda p, s, b: {"every": p, "start": s, "body": b}, st.integers(1, 3), st.integers(0, 2), inner
    )
    return when | when_false | first | last | every


def blocks(node: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[Tree]:
    return st.lists(node, min_size=1, max_size=most)


def domain_loop(body: st.SearchStrategy[Tree]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda end, start, cuts, body: (
            {"domain_loop": end, "body": body}
            | ({"start": start} if start else {})
            | ({"split_at": cuts} if cuts else {})
        ),
        st.sampled_from(BOUNDS),
        st.sampled_from((0, 0, 1, 2)),
        st.sampled_from(((), (), (1,), (2,), (1, 3), ("m",), ("n - 1",))),
        body,
    )


IN_LOOP = blocks(STEPS | guards(blocks(STEPS, 2), INNER + OUTER, True))
AROUND = blocks(STEPS | guards(blocks(STEPS, 2), OUTER, False), 2)
SCHEDULES = st.builds(
    lambda head, loop, tail: [*head, loop, *tail], AROUND, domain_loop(IN_LOOP), st.just([]) | AROUND
)

Held = tuple[int, int]


def transfer(step: Step, held: Held) -> Held:
    acquired, waited = held
    match step.verb:
        case "acquire":
            return min(acquired + 1, 3), waited
        case "commit":
            return 0, waited
        case "wait":
            return acquired, min(waited + 1, 3)
        case "release":
            return acquired, 0
    return held


def walked(found: Program) -> tuple[frozenset[Held], dict[int, set[Held]]]:
    before: dict[int, set[Held]] = {}

    def noted(step: Step, held: Held) -> Held:
        before.setdefault(step.index, set()).add(held)
        return transfer(step, held)

    walker = Walker(found, found.task("t"), noted, lambda step: not step.derived)
    ends = walker.run((0, 0))
    assert walker.complete
    return ends, before


def enumerated(found: Program, tiles: range) -> tuple[set[Held], dict[int, set[Held]]]:
    before: dict[int, set[Held]] = {}
    ends = set()

    def noted(step: Step, held: Held) -> Held:
        before.setdefault(step.index, set()).add(held)
        return transfer(step, held)

    for values in product(VALUES, repeat=len(NAMES)):
        for count in tiles:
            run = Run(found, found.task("t"), noted, dict(zip(NAMES, values, strict=True)), count)
            ends.add(run.run((0, 0)))
    return ends, before


def small(schedule: Tree, policy: str = "grid") -> Program:
    return program(HEAD % (policy, json.dumps(schedule)))


@settings(max_examples=80)
@given(SCHEDULES)
def test_no_run_is_missed(schedule: Tree) -> None:
    found = small(schedule)
    ends, before = walked(found)
    true_ends, true_before = enumerated(found, range(1, 2))
    assert true_ends <= ends
    assert all(states <= before.get(index, set()) for index, states in true_before.items())


@settings(max_examples=40)
@given(
    blocks(STEPS | guards(blocks(STEPS, 2), (*OUTER, "tile.row > 1", "tile.seq == 0"), False)),
    st.none() | IN_LOOP,
)
def test_no_run_over_tiles_is_missed(around: Tree, loop: Tree | None) -> None:
    body = [*around, *([{"domain_loop": "n", "body": loop}] if loop else [])]
    found = small([{"work_tile_loop": "tiles", "body": body}, {"release": "r"}], "static")
    ends, before = walked(found)
    true_ends, true_before = enumerated(found, range(3))
    assert true_ends <= ends
    assert all(states <= before.get(index, set()) for index, states in true_before.items())


STATIC = blocks(STEPS | guards(blocks(STEPS, 2), INNER, True))


@settings(max_examples=100)
@given(
    st.integers(0, 7),
    st.integers(0, 3),
    st.integers(1, 3),
    st.sampled_from(((), (1,), (2, 4), (9,))),
    STATIC,
    AROUND,
)
def test_a_loop_of_known_length_is_run_word_by_word(
    end: int, start: int, step: int, cuts: tuple[int, ...], body: Tree, head: Tree
) -> None:
    loop: dict[str, Any] = {"domain_loop": end, "start": start, "step": step, "body": body}
    head = [node for node in head if not {"when", "when_false"} & node.keys()]
    found = small([*head, loop | ({"split_at": list(cuts)} if cuts else {})])
    ends, before = walked(found)
    assert (ends, before) == enumerated(found, range(1, 2))


@pytest.mark.parametrize(
    ("schedule", "ends"),
    [
        # A condition decides its opposite, and what follows from it.
        (
            [
                {"when": "n > 2", "then": [{"acquire": "r"}]},
                {"when_false": "n <= 2", "body": [{"commit": "r"}]},
            ],
            {0},
        ),
        ([{"when": "n > 2", "then": [{"acquire": "r"}]}, {"when": "n > 0", "then": [{"commit": "r"}]}], {0}),
        (
            [{"when": "n > 0", "then": [{"acquire": "r"}]}, {"when": "n > 2", "then": [{"commit": "r"}]}],
            {0, 1},
        ),
        # A loop that has a round says so behind it, and a guard before it says that it has.
        (
            [{"domain_loop": "n", "body": [{"acquire": "r"}]}, {"when": "0 < n", "then": [{"commit": "r"}]}],
            {0},
        ),
        (
            [{"when": "n > 0", "then": [{"acquire": "r"}]}, {"domain_loop": "n", "body": [{"commit": "r"}]}],
            {0},
        ),
        # First and last rounds, and what `iter`, `trips` and `loop` say of them.
        (
            [
                {
                    "domain_loop": "n",
                    "body": [{"first_iter": [{"acquire": "r"}]}, {"last_iter": [{"commit": "r"}]}],
                }
            ],
            {0},
        ),
        (
            [
                {
                    "domain_loop": "n",
                    "body": [
                        {"when": "iter == 0", "then": [{"acquire": "r"}]},
                        {"when": "loop == n - 1", "then": [{"commit": "r"}]},
                    ],
                }
            ],
            {0},
        ),
        (
            [{"domain_loop": "n", "body": [{"when": "iter < trips - 1", "then": [{"acquire": "r"}]}]}],
            {0, 1, 2, 3},
        ),
        # Rounds that `every` tells apart stay apart behind the loop.
        (
            [
                {
                    "domain_loop": "n",
                    "body": [
                        {"every": 2, "body": [{"acquire": "r"}]},
                        {"every": 2, "start": 1, "body": [{"commit": "r"}]},
                    ],
                },
                {"when": "n % 2 == 1", "then": [{"commit": "r"}]},
            ],
            {0},
        ),
        # A part of known length is run so often.
        (
            [
                {
                    "domain_loop": "n",
                    "split_at": [2],
                    "body": [{"if": "part == 0", "then": [{"acquire": "r"}], "else": [{"commit": "r"}]}],
                }
            ],
            {0, 1, 2},
        ),
    ],
)
def test_conditions_are_told_apart(schedule: Tree, ends: set[int]) -> None:
    assert {acquired for acquired, _ in walked(small(schedule))[0]} == ends


@pytest.mark.parametrize("policy", ["grid", "static"])
def test_a_persistent_cta_may_have_no_tile(policy: str) -> None:
    found = small([{"work_tile_loop": "tiles", "body": [{"acquire": "r"}]}], policy)
    assert {acquired for acquired, _ in walked(found)[0]} == ({1} if policy == "grid" else {0, 1, 2, 3})


TOKENS = """
params: {x: {dtype: i32, shape: [n]}}
launch: {grid: [1]}
resources: {r: {kind: signal, stages: 8}, flag: {kind: registers, dtype: i32, per_thread: 1}}
work:
  look: {returns: {t: bool}, reads: [x], cuda: "t = x(0);"}
  raise_flag: {writes: [flag], cuda: "flag[0] = 1;"}
tasks: {t: {warps: 1, schedule: %s}, other: {warps: 1, schedule: [{wait: r}, {release: r}]}}
"""


@pytest.mark.parametrize(
    ("between", "ends"),
    [
        ([], {0}),
        ([{"do": "look", "out": ["other"]}], {0}),
        ([{"do": "look", "out": ["mine"]}], {0, 1}),
        ([{"when": "n > 2", "then": [{"do": "look", "out": ["mine"]}]}], {0, 1}),
        ([{"domain_loop": "n", "body": [{"do": "look", "out": ["mine"]}]}], {0, 1}),
    ],
)
def test_a_token_made_again_decides_nothing(between: Tree, ends: set[int]) -> None:
    schedule = [
        {"do": "look", "out": ["mine"]},
        {"when": "mine", "then": [{"acquire": "r"}]},
        *between,
        {"when": "mine", "then": [{"commit": "r"}]},
    ]
    assert {acquired for acquired, _ in walked(program(TOKENS % json.dumps(schedule)))[0]} == ends


@pytest.mark.parametrize(("between", "ends"), [([], {0}), ([{"do": "raise_flag"}], {0, 1})])
def test_a_register_written_again_decides_nothing(between: Tree, ends: set[int]) -> None:
    schedule = [
        {"zero": "flag"},
        {"when": "flag", "then": [{"acquire": "r"}]},
        *between,
        {"when_true": "flag", "body": [{"commit": "r"}]},
    ]
    assert {acquired for acquired, _ in walked(program(TOKENS % json.dumps(schedule)))[0]} == ends


def test_too_many_paths_are_given_up() -> None:
    schedule = [
        {"when": f"n % {i} == {i // 2}", "then": [{"acquire": "r"}], "else": [{"wait": "r"}]}
        for i in range(3, 40)
    ]
    found = small([{"for": 60, "as": "i", "body": schedule}])
    walker = Walker(found, found.task("t"), transfer, lambda step: True)
    assert walker.run((0, 0)) == frozenset()
    assert not walker.complete
