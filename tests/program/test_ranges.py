"""What is known where a step stands: intervals of names, and facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.program.build import program
from tsc.expr import parse, provably
from tsc.program.conditions import static_cuts, static_trips
from tsc.program.model import Program
from tsc.program.ranges import facts_at, ranges_at
from tsc.program.tree import Loop, Node, Step, walk

SPEC = """
params: {x: {dtype: f32, shape: [n]}, first: {dtype: i32}}
dims: {n: {min: 1, max: 64}}
assert: [first >= 3]
launch: {grid: [4]}
resources: {v: {kind: registers, dtype: f32, per_thread: 1}}
tasks: {t: {warps: 2, schedule: %s}}
"""
STEP = "task_sync"


def inner(schedule: list[Any]) -> tuple[Program, Step, tuple[Node, ...]]:
    found = program(SPEC % json.dumps(schedule))
    step, above = next((n, a) for n, a in walk(found.task("t").tree) if isinstance(n, Step))
    return found, step, above


@pytest.mark.parametrize(
    ("loop", "name", "bounds"),
    [
        ({"domain_loop": "n"}, "loop", (0, 63)),
        ({"domain_loop": "n", "start": 4, "step": 8}, "loop", (4, 63)),
        ({"domain_loop": 0, "start": "n", "step": -1}, "loop", (1, 64)),
        ({"for": "n * 2", "as": "i", "start": "block.x"}, "i", (0, 127)),
        ({"for": 0, "as": "i"}, "i", (0, 0)),
    ],
)
def test_a_loops_value_lies_between_its_ends(
    loop: dict[str, Any], name: str, bounds: tuple[int, int]
) -> None:
    found, _, above = inner([loop | {"body": [STEP]}])
    known = ranges_at(found, found.task("t"), above)
    assert (known[name].lo, known[name].hi) == bounds
    assert (known["thread"].hi, known["warp"].hi, known["lane"].hi) == (63, 1, 31)


def test_a_loop_over_what_is_not_bounded_is_left_out() -> None:
    found, _, above = inner([{"for": "v", "as": "i", "body": [STEP]}])
    assert "i" not in ranges_at(found, found.task("t"), above)


@pytest.mark.parametrize(
    ("schedule", "condition"),
    [
        ([STEP], "first > 2"),
        ([{"when": "first < n", "then": [STEP]}], "first <= n - 1"),
        (
            [{"when": "first < n", "then": [{"repeat": 0, "as": "i", "body": [STEP]}], "else": [STEP]}],
            "n <= first",
        ),
        ([{"when_true": "first < n", "body": [STEP]}], "n > first"),
        ([{"when_false": "first < n", "body": [STEP]}], "n <= first"),
        ([{"domain_loop": "n", "start": "first", "body": [STEP]}], "loop >= 3 and loop < n"),
        ([{"for": "first", "start": "n", "step": -2, "as": "i", "body": [STEP]}], "i > 3 and i <= n"),
        ([{"when": "n > 8", "then": [{"for": "n", "as": "i", "body": [STEP]}]}], "n >= 9 and i < n"),
    ],
)
def test_facts(schedule: list[Any], condition: str) -> None:
    found, step, above = inner(schedule)
    assert provably(parse(condition), found.ranges, facts_at(found, step, above)) is True


@pytest.mark.parametrize(
    ("loop", "trips", "cuts"),
    [
        ({"domain_loop": 8}, 8, []),
        ({"domain_loop": 8, "start": 3, "step": 2}, 3, []),
        ({"domain_loop": 0, "start": 5, "step": -2}, 3, []),
        ({"domain_loop": 3, "start": 5}, 0, []),
        ({"domain_loop": 3, "step": 0}, None, None),
        ({"domain_loop": "n"}, None, []),
        ({"domain_loop": "n", "split_at": [2, 5]}, None, [2, 5]),
        ({"domain_loop": "n", "split_at": [5, 2]}, None, [5, 5]),
        ({"domain_loop": "n", "start": 2, "step": 3, "split_at": [1, 6, 7]}, None, [0, 2, 2]),
        ({"domain_loop": 0, "start": 9, "step": -2, "split_at": [4]}, 5, [3]),
        ({"domain_loop": 8, "split_at": ["n"]}, 8, None),
        ({"domain_loop": 2**63 - 1, "start": -(2**63)}, 2**64 - 1, []),
    ],
)
def test_rounds_that_are_known_when_built(
    loop: dict[str, Any], trips: int | None, cuts: list[int] | None
) -> None:
    found, _, above = inner([loop | {"body": [STEP]}])
    node = next(node for node in above if isinstance(node, Loop))
    assert (static_trips(found, node), static_cuts(found, node)) == (trips, cuts)
