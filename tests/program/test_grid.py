"""How many CTAs there are: one a tile, or as many as even waves need."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.program.build import program
from tsc.expr import evaluate
from tsc.program.model import Program

SPEC = """
params: {{x: {{dtype: f32, shape: [m, n]}}}}
launch: {{{launch}}}
resources: {{tiles: {{kind: queue, policy: {policy}, axes: {{r: "cdiv(m, 64)", c: n}}}}}}
tasks: {{t: {{warps: 1, schedule: [{{work_tile_loop: tiles, body: [task_sync]}}]}}}}
"""


def queued(policy: str, launch: str = "") -> Program:
    return program(SPEC.format(policy=policy, launch=launch))


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def ctas(found: Program, m: int, n: int, sms: int, clusters: int | None = None) -> int:
    assert found.grid is not None and len(found.grid) == 1
    names = {"m": m, "n": n, "sms": sms, "launch.clusters": sms if clusters is None else clusters}
    return int(evaluate(found.grid[0], names))


SIZES = st.integers(0, 5000), st.integers(0, 40), st.integers(1, 160)


@given(*SIZES, st.sampled_from((1, 2, 4)), st.sampled_from(("grid", "clc")))
def test_one_cta_a_tile(m: int, n: int, sms: int, size: int, policy: str) -> None:
    clusters = cdiv(cdiv(m, 64), size) * n
    assert ctas(queued(policy, f"cluster: {{r: {size}}}"), m, n, sms) == clusters * size


@given(*SIZES, st.sampled_from((1, 2)), st.sampled_from(("static", "atomic")))
def test_even_waves(m: int, n: int, most: int, size: int, policy: str) -> None:
    count = ctas(queued(policy, f"cluster: {{r: {size}}}"), m, n, 132, most)
    tiles = cdiv(cdiv(m, 64), size) * n
    assert count % size == 0
    if tiles == 0:
        assert count == 0
        return
    clusters = count // size
    waves = cdiv(tiles, min(tiles, most))
    assert clusters <= most and clusters <= tiles
    # No more waves than all that can be resident would need, and with one cluster less there would be more.
    assert cdiv(tiles, clusters) == waves
    assert clusters == 1 or cdiv(tiles, clusters - 1) > waves


@pytest.mark.parametrize(("given", "count"), [("ctas: 7", 7), ("ctas: 1000", 40), ("ctas: sms", 10)])
def test_a_number_of_ctas_is_taken_up_to_the_tiles(given: str, count: int) -> None:
    assert ctas(queued("static", given), 256, 10, 10) == count


def test_a_number_of_ctas_is_rounded_down_to_clusters() -> None:
    assert ctas(queued("static", "ctas: 7, cluster: {r: 2}"), 256, 10, 10) == 6
    assert ctas(queued("static", "ctas: 1, cluster: {r: 2}"), 256, 10, 10) == 2


def test_without_a_queue_the_grid_is_the_authors() -> None:
    text = """
        params: {x: {dtype: f32, shape: [m]}}
        launch: {grid: ["cdiv(m, 4)", 2]}
        let: {unused: m}
        resources: {}
        tasks: {t: {warps: 1, schedule: [task_sync]}}
        """
    grid = program(text).grid
    assert grid is not None
    assert [int(evaluate(extent, {"m": 9})) for extent in grid] == [3, 2]
    assert program(text.replace("grid: [", "ctas_per_sm: 1 } #[")).grid is None
