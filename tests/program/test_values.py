"""Constants and lets put into expressions; what has no value leaves a reason and never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.program.build import program
from tsc.expr import Expr, parse, show
from tsc.program.scope import Stage
from tsc.program.values import Values, let_order


def lets(**texts: str | int) -> dict[str, Expr]:
    return {name: parse(text) for name, text in texts.items()}


def test_lets_are_looked_through_in_any_order() -> None:
    values = Values({"BM": 64}, lets(c="b * 2", b="a + BM", a="m // 2"))
    assert show(values.flat(parse("c - 1"))) == "(m // 2 + 64) * 2 - 1"
    assert values.integer(parse("BM * BM"), ()) == 4096
    assert values.integer(parse("c"), ()) is None
    assert values.failures == []


def test_names_of_a_copy_are_put_in() -> None:
    values = Values({}, lets(row="replica * 64 + i"))
    assert values.integer(parse("row"), (), {"replica": 2, "i": 1}) == 129
    assert values.value(parse("replica == 2"), (), {"replica": 2}) is True
    assert values.integer(parse("replica == 2"), (), {"replica": 2}) == 1


@pytest.mark.parametrize("text", ["1 // 0", "5 % 0", "9223372036854775807 + 1", "cdiv(4, 0)"])
def test_a_failure_is_noted_with_its_place(text: str) -> None:
    values = Values({}, {})
    assert values.integer(parse(text), ("let", "a")) is None
    (failure,) = values.failures
    assert failure.route == ("let", "a")
    assert failure.message


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ({"a": "b", "b": "1"}, ("b", "a")),
        ({"a": "a"}, ()),
        ({"a": "b", "b": "a", "c": "a + 1", "d": "2"}, ("d",)),
        ({"a": "b + c", "b": "c", "c": "n"}, ("c", "b", "a")),
        ({}, ()),
    ],
)
def test_order_of_lets(given: dict[str, str], order: tuple[str, ...]) -> None:
    assert let_order(lets(**given)) == order


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdefn")), max_size=6))
def test_each_let_stands_behind_those_it_mentions(mentions: dict[str, set[str]]) -> None:
    defined = {name: parse(" + ".join(sorted(used)) or "1") for name, used in mentions.items()}
    order = let_order(defined)
    assert len(set(order)) == len(order)
    for i, name in enumerate(order):
        assert mentions[name] & mentions.keys() <= set(order[:i])
    for name in mentions.keys() - set(order):
        assert mentions[name] & (mentions.keys() - set(order))


def test_a_circle_stays_a_name() -> None:
    values = Values({}, lets(a="b", b="a", c="a + 1", d="n"))
    assert set(values.lets) == {"d"}
    assert values.flat(parse("a + d")).text == "a + n"


def test_depth_is_no_limit() -> None:
    values = Values({}, lets(a0="n", **{f"a{i}": f"a{i - 1} + 1" for i in range(1, 4000)}))
    assert show(values.flat(parse("a3999"))) == "n + 3999"


def test_what_grows_too_large_is_one_failure() -> None:
    values = Values({}, lets(a0="n", **{f"a{i}": f"a{i - 1} + a{i - 1}" for i in range(1, 60)}))
    (failure,) = values.failures
    assert "too large" in failure.message
    assert values.too_large(parse("a1 + a2")) is None
    assert values.too_large(parse(" + ".join(["a8"] * 20))) is not None


STAGES = """
constants: {C: 4}
params: {x: {dtype: f32, shape: [n]}, s: {dtype: i32}, t: {dtype: i32, shape: [n]}}
resources:
  tiles: {kind: queue, policy: grid, axes: {m: n}}
  flag: {kind: registers, dtype: i32, per_thread: 1}
  wide: {kind: registers, dtype: f32, per_thread: 1}
let:
  {a: C * 2, b: n + a, c: s, d: block.x, e: tile.m + b, f: loop, g: "t[tile.m]", h: thread, i: flag, j: h + a}
tasks: {t_: {warps: 1, schedule: [task_sync]}}
"""


def test_a_let_is_as_late_as_what_it_mentions() -> None:
    assert dict(program(STAGES).let_stages) == {
        "a": Stage.BUILD,
        "b": Stage.LAUNCH,
        "c": Stage.LAUNCH,
        "d": Stage.CTA,
        "e": Stage.TILE,
        "f": Stage.ITERATION,
        "g": Stage.TILE,
        "h": Stage.THREAD,
        "i": Stage.VALUE,
        "j": Stage.THREAD,
    }


def test_ranges_bound_what_is_known_at_launch() -> None:
    found = program(
        """
        params: {x: {dtype: f32, shape: [n, k]}, s: {dtype: u8}, r: {dtype: f32}}
        dims: {n: {min: 2, max: 100}}
        launch: {cluster: {m: 2}}
        let: {half: n // 2, next: half + s, unbounded: loop}
        resources: {tiles: {kind: queue, policy: grid, axes: {m: "cdiv(n, 8)"}}}
        tasks: {t: {warps: 1, schedule: [task_sync]}}
        """
    )
    spans = {name: (span.lo, span.hi) for name, span in found.ranges.items()}
    assert spans["n"] == (2, 100)
    assert spans["k"] == (1, 2**31 - 1)
    assert spans["s"] == (0, 255)
    assert (spans["half"], spans["next"]) == ((1, 50), (1, 305))
    assert "r" not in spans and "unbounded" not in spans
    # A CTA of a cluster may stand past the ragged end.
    assert spans["tile.m"] == (0, 13)
    assert spans["cluster.m"] == (0, 1)
    assert spans["grid.x"][1] >= spans["block.x"][1] + 1
