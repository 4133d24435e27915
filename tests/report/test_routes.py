"""Where the value of each token comes from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.program.build import program
from tsc.report.tree import render_text, value_routes

SPEC = """
params: {x: {dtype: i32, shape: [n]}}
launch: {grid: [1]}
resources: {v: {kind: registers, dtype: f32, per_thread: 1}}
work:
  look: {returns: {a: i32}, reads: [x], cuda: a = x(0);}
  take: {args: {p: i32}, writes: [v], cuda: "v[0] = p;"}
tasks: {t: {warps: 1, schedule: %s}}
"""
LOOK = {"do": "look", "out": ["a"]}
TAKE = {"do": "take", "with": {"p": "a + 1"}}


def routes(schedule: list[Any]) -> list[tuple[str, int, int | None]]:
    task = program(SPEC % json.dumps(schedule)).task("t")
    return [(route.token, route.maker, route.taker) for route in value_routes(task)]


@pytest.mark.parametrize(
    ("schedule", "found"),
    [
        ([LOOK, TAKE], [("a", 0, 1)]),
        ([LOOK, LOOK, TAKE, TAKE], [("a", 1, 2), ("a", 1, 3)]),
        ([{"do": "look", "out": ["_"]}, LOOK], []),
        # In a loop the step may be fed by the round before.
        ([{"for": 4, "as": "i", "body": [TAKE, LOOK]}], [("a", 1, 0)]),
        ([LOOK, {"for": 4, "as": "i", "body": [TAKE, LOOK]}, TAKE], [("a", 0, 1), ("a", 2, 3)]),
        # Loops and guards take values too, before what stands inside them.
        ([LOOK, {"for": "a", "as": "i", "body": [LOOK]}], [("a", 0, None)]),
        ([LOOK, {"when": "a > 0", "then": [TAKE], "else": [LOOK]}], [("a", 0, None), ("a", 0, 1)]),
        ([LOOK, {"repeat": 2, "as": "i", "body": [TAKE]}], [("a", 0, 1), ("a", 0, 2)]),
    ],
)
def test_routes(schedule: list[Any], found: list[tuple[str, int, int | None]]) -> None:
    assert routes(schedule) == found


def test_a_guard_says_where_its_condition_comes_from() -> None:
    text = render_text(program(SPEC % json.dumps([LOOK, {"when_true": "a", "body": [TAKE]}])))
    (row,) = (line for line in text.splitlines() if "when_true" in line)
    assert row.endswith("`a` from #0")


def test_what_is_not_known_is_said() -> None:
    spec = "params: {x: {dtype: f32, shape: [n]}}\nlaunch: {grid: [1]}\n"
    spec += "resources: {r: {kind: smem, dtype: f32, shape: [n]}}\n"
    text = render_text(program(spec + "tasks: {t: {warps: none, schedule: [task_sync]}}"))
    assert text.splitlines()[0] == "k: sm_90a, threads unknown, shared memory unknown"
    assert "warps unknown" in text


def test_replicas_that_read_the_same_are_printed_once() -> None:
    schedule = [{"if": "replica < 2", "then": [LOOK, TAKE], "else": ["task_sync"]}]
    spec = (SPEC % json.dumps(schedule)).replace("warps: 1", "warps: 1, replicas: 3")
    text = render_text(program(spec))
    assert text.count("do: look") == 1 and text.count("task_sync") == 1
    assert "t[0]  (warp 0" in text and "t[1]  (warp 1" in text and "t[2]  (warp 2" in text
