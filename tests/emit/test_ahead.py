"""Lets that read tensors: made once before the loop that uses them, and never for a tile that nobody sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emit.kernels import cuda, document
from tests.emit.test_queue import function
from tsc.toolchain.build import compile_source

GROUPS = (Path(__file__).parents[2] / "specs/copy/groups.tsc.yaml").read_text(encoding="utf-8")

SMALL = """\
tsc: 1
kernel: small
target: sm_90a
params:
  offsets: {dtype: i32, shape: [n + 1]}
  x: {dtype: f32, shape: [m, 4]}
  y: {dtype: f32, shape: [m, 4]}
let:
  first: offsets[tile.i]
  parity: tile.seq % 2
resources:
  tiles: {kind: queue, policy: static, axes: {i: n} MORE}
  v: {kind: registers, dtype: f32, per_thread: 4}
tasks:
  copy:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
BODY
"""
LOAD = "{load: v, from: x, at: [first + i, 0]}"
STORE = "{store: y, from: v, at: [first + i, 0]}"


def small(*steps: str, more: str = "") -> str:
    body = "\n".join(f"          - {step}" for step in steps)
    return SMALL.replace("BODY", body).replace("MORE", more)


def text_of(spec: str) -> str:
    text = cuda(document(spec))
    assert compile_source(text, {}, "sm_90a").diagnostics == ()
    return cuda(document(spec), headers=False)


def task(spec: str, name: str = "copy") -> str:
    return function(text_of(spec), f"{name}_task")


@pytest.mark.parametrize("policy", ["grid", "static", "atomic"])
@pytest.mark.parametrize("name", ["load", "store"])
def test_a_search_is_made_once_a_tile_and_for_no_other(policy: str, name: str) -> None:
    text = task(GROUPS.replace("policy: static", f"policy: {policy}"), name)
    assert text.count("find(") == 1
    skip = text.index("tile.m >= tiles_before(groups)" if policy != "grid" else "!(tile.m >= ")
    assert skip < text.index("find(") < text.index("for (int loop")


def test_a_loop_that_may_not_run_reads_nothing() -> None:
    text = task(small("{for: m, as: i, body: [LOAD, STORE]}").replace("LOAD", LOAD).replace("STORE", STORE))
    assert "const int first = 0 < m ? offsets(tile.i) : 0;" in text
    assert text.count("offsets(tile.i)") == 1


def test_a_loop_that_surely_runs_asks_nothing() -> None:
    text = task(small(f"{{for: 3, as: i, body: [{LOAD}, {STORE}]}}"))
    assert "const int first = offsets(tile.i);" in text


def test_two_loops_have_a_constant_each() -> None:
    loop = f"{{for: m, as: i, body: [{LOAD}, {STORE}]}}"
    text = task(small(loop, loop, "{load: v, from: x, at: [first, 0]}"))
    assert re.findall(r"const int (first\w*) =", text) == ["first_3", "first", "first_2"]


def test_what_stands_under_a_condition_is_read_there() -> None:
    text = task(small(f"{{for: m, as: i, body: [{{when: i > 0, then: [{LOAD}, {STORE}]}}]}}"))
    assert "const int first" not in text
    assert text.index("if (i > 0)") < text.index("offsets(tile.i)")


def test_a_loop_that_waits_for_the_kernel_before_reads_behind_that() -> None:
    text = task(small(f"{{for: m, as: i, body: [{{first_iter: [pdl_wait]}}, {LOAD}, {STORE}]}}"))
    assert "const int first" not in text
    assert text.index("griddepcontrol" if "griddepcontrol" in text else "pdl_wait") < text.index(
        "offsets(tile.i)"
    )


def test_what_the_kernel_writes_is_read_each_time() -> None:
    text = task(
        small(f"{{for: m, as: i, body: [{LOAD}, {{store: offsets, from: k, at: [tile.i]}}]}}").replace(
            "  v:", "  k: {kind: registers, dtype: i32, per_thread: 1}\n  v:"
        )
    )
    assert "const int first" not in text


def test_the_number_of_a_tile_is_set_before_it_is_used() -> None:
    steps = ("{load: v, from: x, at: [parity, 0]}", "{store: y, from: v, at: [parity, 0]}")
    text = task(small(*steps, more=", skip_if: tile.i == 1"))
    order = ["tile.i == 1", "tile.seq = seq++", "const int parity = tile.seq"]
    assert sorted(order, key=text.index) == order


def test_an_element_that_no_round_changes_is_read_once() -> None:
    text = task(small("{for: m, as: i, body: [{load: v, from: x, at: ['offsets[tile.i] + i', 0]}]}"))
    assert "const int offsets_here = 0 < m ? offsets(tile.i) : 0;" in text
    assert text.count("offsets(tile.i)") == 1


def test_an_element_of_a_round_is_read_in_it() -> None:
    text = task(small("{for: m, as: i, body: [{load: v, from: x, at: ['offsets[tile.i + i]', 0]}]}"))
    assert text.index("for (int i") < text.index("offsets(")


@pytest.mark.parametrize("row", ["(first if i > 0 else 0)", "(offsets[tile.i] if i > 0 else 0)"])
def test_what_an_expression_reads_on_a_condition_is_not_read_before(row: str) -> None:
    text = task(small(f"{{for: m, as: i, body: [{{load: v, from: x, at: ['{row} + i', 0]}}]}}"))
    assert text.index("for (int i") < text.index("offsets(tile.i)")


def test_what_a_tile_reads_on_a_condition_is_not_read_before() -> None:
    text = task(small("{load: v, from: x, at: [first if tile.i > 0 else 0, 0]}"))
    assert "const int first" not in text


def test_a_condition_is_evaluated_before_its_sides() -> None:
    text = task(small("{for: m, as: i, body: [{load: v, from: x, at: ['i if first > 0 else 0', 0]}]}"))
    assert text.index("const int first = 0 < m ? offsets(tile.i) : 0;") < text.index("for (int i")
