"""What the loader has to see to before a launch, so that tiles can be numbered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import tsc
from tests.emit.kernels import cuda, document, plan
from tsc.expr import evaluate, parse

SPEC = """tsc: 1
kernel: k
target: sm_90a
params: {x: {dtype: f32, shape: [m, n]}, order: {dtype: i32, shape: [rows, 2]}}
launch: {cluster: {CLUSTER}}
resources:
  tiles: {kind: queue, policy: POLICY, axes: {m: AXIS, n: n}, order: {kind: ORDER}}
  v: {kind: registers, dtype: f32, per_thread: 1}
tasks:
  main:
    warps: 1
    schedule: [{work_tile_loop: tiles, body: [{zero: v}]}]
"""


def text(policy: str = "static", order: str = "linear", cluster: str = "", axis: str = "m") -> str:
    found = SPEC.replace("POLICY", policy).replace("ORDER", order).replace("AXIS", axis)
    return found.replace("CLUSTER", cluster)


def holds(spec: str, **sizes: int) -> list[str]:
    """The sentences of those assertions that sizes break."""
    asserts: list[dict[str, Any]] = plan(spec).manifest["asserts"]
    return [str(one["text"]) for one in asserts if not evaluate(parse(str(one["expr"])), sizes)]


@pytest.mark.parametrize("policy", ["grid", "static", "atomic"])
def test_more_than_32_bits_of_tiles_are_refused(policy: str) -> None:
    said = ["there are at most 2,147,483,647 tiles"]
    assert holds(text(policy), m=2**16, n=2**15 - 1) == []
    assert holds(text(policy), m=2**16, n=2**15) == said
    assert holds(text(policy), m=0, n=2**31 - 1) == []


def test_ragged_clusters_count_whole() -> None:
    spec = text(cluster="m: 2, n: 4")
    assert holds(spec, m=2**15 - 1, n=2**16 - 4) == []
    assert holds(spec, m=2**15 - 1, n=2**16 - 3) == ["there are at most 2,147,483,647 tiles"]


def test_bounds_that_are_low_enough_need_no_assertion() -> None:
    bounded = text() + "dims: {m: {max: 46340}, n: {max: 46340}}\n"
    assert plan(bounded).manifest["asserts"] == []


def test_a_table_has_a_row_for_each_cluster() -> None:
    spec = text(order="table, from: order", cluster="m: 2")
    assert holds(spec, m=5, n=3, rows=9) == []
    assert holds(spec, m=5, n=3, rows=15) == ["`order` has a row for each cluster of tiles"]
    whole = cuda(document(spec), headers=False)
    assert "const Tensor<const i32, 2> order{order_data, {rows, 2}, {order_stride_0, 1}};" in whole
    assert "const Tiles tiles{cdiv(m, 2), n, order};" in whole


def test_a_spec_of_more_tiles_than_32_bits_counts_in_64() -> None:
    spec = text().replace("kernel: k", "kernel: k\nconstants: {m: 70000, n: 70000}")
    whole = cuda(document(spec), headers=False)
    assert "for (i64 unit = blockIdx.x; unit < tiles.count(); unit += gridDim.x)" in whole
    assert "tile.m = static_cast<int>(above_n);" in whole
    assert plan(spec).manifest["asserts"] == []


def test_the_slowest_axis_is_not_asked_for_where_nobody_counts() -> None:
    whole = cuda(document(text("grid", axis="m * 2")), headers=False)
    assert "const Tiles tiles{n};" in whole
    assert "const Tile tile = tiles.at(blockIdx.x);" in whole
    whole = cuda(document(text("grid", "linear, reverse: [m]")), headers=False)
    assert "const Tiles tiles{m, n};" in whole


def test_a_proof_says_that_it_rests_on_a_list(tmp_path: Path) -> None:
    path = tmp_path / "listed.tsc.yaml"
    path.write_text(text(order="table, from: order"), encoding="utf-8")
    assert "rests on: `order` lists each tile once" in tsc("check", str(path)).stdout
    path.write_text(text(), encoding="utf-8")
    assert "rests on" not in tsc("check", str(path)).stdout
