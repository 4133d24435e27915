"""Every order under every policy on a GPU: each tile is visited once, and in its turn where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from tests.emit.kernels import cuda, document
from tests.tiles.base import grid, name_of, orders
from tsc.tiles.grid import Place
from tsc.toolchain.build import compile_source

pytestmark = pytest.mark.gpu
SIZES = ((1, 1), (0, 3), (5, 7), (9, 13), (37, 21), (132, 3), (64, 63), (211, 97))
SPEC = """tsc: 1
kernel: visit
target: sm_90a
params: {y: {dtype: i32, shape: [m, n]}, listed: {dtype: i32, shape: [rows, 2]}}
launch: {cluster: {CLUSTER}}
resources:
  tiles: {kind: queue, policy: POLICY, axes: {m: m, n: n}, order: ORDER}
work:
  mark:
    updates: [y]
    cuda: |
      if (task.thread == 0 && tile.m < m && tile.n < n) y(tile.m, tile.n) += NUMBER;
tasks:
  main: {warps: 1, schedule: [{work_tile_loop: tiles, body: [{do: mark}]}]}
"""


def kernel_of(order: Mapping[str, Any], policy: str, cluster: Place) -> Any:
    import tsc

    size = cluster[0] * cluster[1]
    numbers = {
        "grid": f"1 + blockIdx.x / {size}",
        "static": f"1 + tile.seq * (gridDim.x / {size}) + blockIdx.x / {size}",
        "atomic": "1",
    }
    shares = ", ".join(f"{axis}: {share}" for axis, share in zip("mn", cluster, strict=True) if share > 1)
    text = SPEC.replace("ORDER", str(dict(order)).replace("False", "false").replace("'", ""))
    text = text.replace("POLICY", policy).replace("CLUSTER", shares).replace("NUMBER", numbers[policy])
    return tsc.load(compile_source(cuda(document(text)), {}, "sm_90a").cubin)


def units_of(order: Mapping[str, Any], size: Place, cluster: Place) -> tuple[list[Place], Any]:
    """The units in order, and the grid."""
    found = grid(order if order["kind"] != "table" else {"kind": "linear"}, size, cluster=cluster)
    units = found.places()
    if order["kind"] == "table":
        Random(7).shuffle(units)
    return units, found


@pytest.mark.parametrize("cluster", [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("policy", ["grid", "static", "atomic"])
@pytest.mark.parametrize("order", [*orders(3), {"kind": "table", "from": "listed"}], ids=name_of)
def test_each_tile_is_visited_once(order: Mapping[str, Any], policy: str, cluster: Place) -> None:
    torch = pytest.importorskip("torch")
    kernel = kernel_of(order, policy, cluster)
    for size in SIZES:
        units, found = units_of(order, size, cluster)
        expected = torch.zeros(*size, dtype=torch.int32)
        for number, unit in enumerate(units):
            for tile in filter(found.inside, found.tiles(unit)):
                expected[tile] += number + 1 if policy != "atomic" else 1
        listed = torch.tensor(units, dtype=torch.int32).reshape(-1, 2).cuda()
        y = torch.zeros(*size, dtype=torch.int32, device="cuda")
        kernel(y, listed)
        torch.cuda.synchronize()
        assert torch.equal(y.cpu(), expected), size
