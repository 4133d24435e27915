"""Who fills whose stages in a cluster: both ways round, and what the generated code makes of it."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tests.emit.kernels import HEADER, cuda, document, program_of
from tsc.emit.arrivals import by_rank, shared
from tsc.emit.kernel import Kernel
from tsc.program.multicast import Shared, fillers, place, reached

CLUSTERS = [
    (("m", 2),),
    (("m", 4),),
    (("m", 2), ("n", 2)),
    (("m", 4), ("n", 2)),
    (("m", 2), ("n", 3), ("k", 2)),
]
LOADS = [
    tuple(Shared(axis, led) for axis, led in zip("mn", ways, strict=True) if led is not None)
    for ways in product((None, False, True), repeat=2)
]


@pytest.mark.parametrize("extents", CLUSTERS)
@pytest.mark.parametrize("loads", LOADS)
def test_who_is_told_is_who_counts(loads: tuple[Shared, ...], extents: tuple[tuple[str, int], ...]) -> None:
    size = 1
    for _, extent in extents:
        size *= extent
    for filler, reader in product(range(size), repeat=2):
        assert (reader in reached(loads, extents, filler)) == (filler in fillers(loads, extents, reader))
    assert all(rank in fillers(loads, extents, rank) for rank in range(size))


def test_one_loads_for_all_or_each_a_part() -> None:
    extents = (("m", 2), ("n", 2))
    assert [reached((Shared("m", False),), extents, rank) for rank in range(4)] == [
        (0, 1),
        (0, 1),
        (2, 3),
        (2, 3),
    ]
    assert [reached((Shared("m", True),), extents, rank) for rank in range(4)] == [(0, 1), (1,), (2, 3), (3,)]
    both = (Shared("m", True), Shared("n", False))
    assert [reached(both, extents, rank) for rank in range(4)] == [(0, 1, 2), (1, 3), (0, 2, 3), (1, 3)]
    assert [fillers(both, extents, rank) for rank in range(4)] == [(0, 2), (0, 1, 3), (0, 2), (1, 2, 3)]


SHARES = {None: "", False: ", multicast: {}", True: ", multicast: {}, share: leader"}


def spec(cluster: dict[str, int], a: bool | None, b: bool | None, warps: int = 2) -> str:
    """Two operands: `a` for the CTAs along n, `b` for those along m."""
    axes = ", ".join(f"{axis}: {extent}" for axis, extent in cluster.items())
    return f"""\
{HEADER}params:
  a: {{dtype: bf16, shape: [m, k]}}
  b: {{dtype: bf16, shape: [n, k]}}
  y: {{dtype: f32, shape: [n]}}
launch: {{cluster: {{{axes}}}}}
resources:
  tiles: {{kind: queue, policy: static, axes: {{m: "cdiv(m, 96)", n: "cdiv(n, 96)"}}}}
  ab:
    kind: smem
    stages: 3
    buffers: {{a: {{dtype: bf16, shape: [96, 64]}}, b: {{dtype: bf16, shape: [96, 64]}}}}
work: {{use: {{reads: [ab], writes: [y], cuda: "y(0) = ab.a(0, 0) + ab.b(0, 0);"}}}}
tasks:
  use:
    warps: {warps}
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, 64)
            body: [{{wait: ab}}, {{do: use}}, {{release: ab}}]
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, 64)
            body:
              - acquire: ab
              - {{tma_load: a, at: [tile.m * 96, loop * 64], to: ab.a{SHARES[a].format("n")}}}
              - {{tma_load: b, at: [tile.n * 96, loop * 64], to: ab.b{SHARES[b].format("m")}}}
              - commit: ab
"""


WAYS = [ways for ways in product((None, False, True), repeat=2) if any(way is not None for way in ways)]


@pytest.mark.parametrize("cluster", [{"m": 2, "n": 2}, {"m": 4, "n": 2}, {"m": 2, "n": 3}, {"n": 4, "m": 1}])
@pytest.mark.parametrize(("a", "b"), WAYS)
def test_masks_and_counts_of_the_code_are_those(
    cluster: dict[str, int], a: bool | None, b: bool | None
) -> None:
    text = spec(cluster, a, b)
    found = program_of(document(text))
    kernel = Kernel(found)
    loads, extents = shared(found, ("ab",), 0), kernel.rank_order()
    code = cuda(document(text), headers=False)
    masks = re.findall(r"const u32 ab_peers = (.*?);", code, re.S)
    counts = re.findall(r"mbarrier_init\(shared \+ AB_EMPTY \+ 8 \* i, (.*?)\);", code)
    assert len(counts) == 1
    for rank in range(kernel.cluster_size):
        places = {name: rank for name in set(re.findall(r"\brank\w*\b", code))}
        places |= {f"cluster_{axis}": place(extents, rank, axis) for axis in cluster}
        told = fillers(loads, extents, rank)
        if masks:
            assert eval(masks[0], {}, places) == sum(1 << one for one in told)
        else:
            assert told == (rank,)
        # `((mask >> rank) & 1) ? one : other`, or a chain of them.
        chosen = re.sub(r"\(\((\d+) >> rank\) & 1\) \? (\d+) : ", r"\2 if \1 >> rank & 1 else ", counts[0])
        assert eval(chosen, {}, {"rank": rank}) == by_rank(kernel, ("ab",), 0, "read")[rank]
        assert by_rank(kernel, ("ab",), 0, "read")[rank] == 2 * len(reached(loads, extents, rank))
