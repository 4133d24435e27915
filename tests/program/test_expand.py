"""A schedule as it is run: builds expanded, loops cut, the queue's steps added, sections named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.program.build import program
from tsc.program.expand import MOST_COPIES
from tsc.program.model import Program
from tsc.program.tree import Guard, Loop, Step, TileLoop, walk

SPEC = """
constants: {ON: true, COUNT: 3}
params: {x: {dtype: f32, shape: [n]}}
launch: %s
resources:
  v: {kind: registers, dtype: f32, per_thread: 1}
  tiles: {kind: queue, policy: %s, axes: {m: n}}
tasks: {t: {warps: 1, schedule: %s}}
"""


def task(schedule: list[Any], policy: str = "static") -> Program:
    return program(SPEC % ("{}", policy, json.dumps(schedule)))


def step(at: str) -> dict[str, Any]:
    return {"load": "v", "from": "x", "at": [at]}


def rows(found: Program) -> list[tuple[str, str, int]]:
    """Section, verb and call index of every step."""
    return [(s.section, s.verb, s.index) for s in found.task("t").steps()]


def env(found: Program) -> list[dict[str, int | bool]]:
    return [{k: v for k, v in s.env.items() if k != "threads"} for s in found.task("t").steps()]


@pytest.mark.parametrize(
    ("schedule", "made"),
    [
        ([{"repeat": 3, "as": "i", "body": [step("i")]}], [{"i": 0}, {"i": 1}, {"i": 2}]),
        ([{"repeat": "COUNT - 1", "as": "i", "body": [step("i")]}], [{"i": 0}, {"i": 1}]),
        ([{"repeat": [5, "COUNT", 1], "as": "i", "body": [step("i")]}], [{"i": 5}, {"i": 3}, {"i": 1}]),
        ([{"repeat": 0, "as": "i", "body": [step("i")]}], []),
        ([{"repeat": -2, "as": "i", "body": [step("i")]}], []),
        (
            [{"repeat": 2, "as": "i", "body": [{"repeat": "i", "as": "j", "body": [step("j")]}]}],
            [{"i": 1, "j": 0}],
        ),
        ([{"if": "ON", "then": [step("0")], "else": [step("1"), step("2")]}], [{}]),
        ([{"if": "not ON", "then": [step("0")], "else": [step("1"), step("2")]}], [{}, {}]),
        ([{"if": "not ON", "then": [step("0")]}], []),
        (
            [{"repeat": 3, "as": "i", "body": [{"if": "i % 2 == 0", "then": [step("i")]}]}],
            [{"i": 0}, {"i": 2}],
        ),
        (
            [{"domain_loop": "n", "split_at": [2, 4], "body": [step("loop")]}],
            [{"part": 0}, {"part": 1}, {"part": 2}],
        ),
        (
            [{"domain_loop": "n", "split_at": [2], "body": [{"if": "part == 1", "then": [step("loop")]}]}],
            [{"part": 1}],
        ),
    ],
)
def test_builds(schedule: list[Any], made: list[dict[str, int]]) -> None:
    assert env(task(schedule)) == made


def test_unknown_counts_make_nothing() -> None:
    assert (
        env(task([{"repeat": "n", "as": "i", "body": [step("i")]}, {"if": "n", "then": [step("0")]}])) == []
    )


def test_a_repeat_of_too_many_copies_is_looked_at_once() -> None:
    assert len(env(task([{"repeat": MOST_COPIES, "as": "i", "body": [step("i")]}]))) == MOST_COPIES
    assert env(task([{"repeat": MOST_COPIES + 1, "as": "i", "body": [step("i")]}])) == [{"i": 0}]


def test_steps_are_counted_in_the_order_of_the_text() -> None:
    found = task(["pdl_wait", {"repeat": 2, "as": "i", "body": [step("i"), "task_sync"]}, "pdl_launch"])
    verbs = ["pdl_wait", "load", "task_sync", "load", "task_sync", "pdl_launch"]
    assert [(verb, index) for _, verb, index in rows(found)] == list(zip(verbs, range(6), strict=True))


LOOP: dict[str, Any] = {"domain_loop": "n", "body": [step("loop")]}
QUEUE = ["wait", "get_and_advance_work_tile", "release"]


@pytest.mark.parametrize(
    ("schedule", "sections"),
    [
        ([step("0"), LOOP, step("1")], ["HEAD", "LOOP", "TAIL"]),
        ([step("0"), step("1")], ["HEAD", "HEAD"]),
        ([{"for": 2, "as": "i", "body": [step("0")]}, LOOP], ["HEAD", "LOOP"]),
        ([LOOP, {"for": 2, "as": "i", "body": [step("0")]}], ["LOOP", "TAIL"]),
        ([{"domain_loop": "n", "body": [{"for": 2, "as": "i", "body": [step("0")]}]}], ["LOOP"]),
        ([{"work_tile_loop": "tiles", "body": [step("0"), LOOP]}], ["HEAD", "LOOP", *["TAIL"] * 3]),
        ([{"work_tile_loop": "tiles", "body": [step("0")]}], ["HEAD"] * 4),
        (
            ["pdl_wait", {"work_tile_loop": "tiles", "body": [step("0")]}, "pdl_launch"],
            ["BEFORE", *["HEAD"] * 4, "AFTER"],
        ),
    ],
)
def test_sections(schedule: list[Any], sections: list[str]) -> None:
    assert [section for section, _, _ in rows(task(schedule))] == sections


@pytest.mark.parametrize("policy", ["grid", "static", "atomic", "clc"])
def test_the_steps_of_the_queue_are_derived(policy: str) -> None:
    found = task([{"work_tile_loop": "tiles", "body": [step("0")]}], policy)
    derived = [s for s in found.task("t").steps() if s.derived]
    assert [s.verb for s in derived] == QUEUE
    assert {s.route for s in derived} == {("tasks", "t", "schedule", 0)}


def test_written_steps_of_the_queue_are_not_doubled() -> None:
    body = [step("0"), *({verb: "tiles"} for verb in QUEUE)]
    steps = list(task([{"work_tile_loop": "tiles", "body": body}]).task("t").steps())
    assert [(s.verb, s.derived) for s in steps] == [("load", False), *((verb, False) for verb in QUEUE)]


def test_guards_keep_what_they_ask() -> None:
    found = task(
        [
            {
                "domain_loop": "n",
                "key": "k",
                "body": [
                    {"first_iter": [step("0")]},
                    {"every": "COUNT", "start": 1, "body": [step("1")]},
                    {"when": "loop > 2", "key": "w", "then": [step("2")], "else": [step("3")]},
                    {"when_false": "loop > 2", "body": [step("4")]},
                ],
            }
        ]
    )
    nodes = [node for node, _ in walk(found.task("t").tree)]
    loop = next(node for node in nodes if isinstance(node, Loop))
    assert (loop.variable, loop.key, loop.unroll, loop.split, len(loop.pieces)) == (
        "loop",
        "k",
        None,
        False,
        1,
    )
    first, every, when, false = (node for node in nodes if isinstance(node, Guard))
    assert (first.kind, first.condition, len(first.then)) == ("first_iter", None, 1)
    assert (every.kind, every.period, every.start) == ("every", 3, 1)
    assert (when.kind, when.key, len(when.then), len(when.otherwise)) == ("when", "w", 1, 1)
    assert (false.kind, false.verb, len(false.then), len(false.otherwise)) == ("when", "when_false", 0, 1)


def test_every_node_knows_what_stands_around_it() -> None:
    found = task(
        [{"work_tile_loop": "tiles", "body": [{"domain_loop": "n", "body": [{"last_iter": [step("0")]}]}]}]
    )
    load = next((node, above) for node, above in walk(found.task("t").tree) if isinstance(node, Step))
    assert [type(node) for node in load[1]] == [TileLoop, Loop, Guard]
    assert load[0].route == ("tasks", "t", "schedule", 0, "body", 0, "body", 0, "last_iter", 0)
