"""Shipped kernels with a queue, and the chain: against a reference, over poisoned outputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.specs.buffers import POISON, copies, fresh, poisoned, view

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.gpu

Load = Callable[..., Any]

POLICIES = ["static", "atomic", "grid"]
CTAS = 128
"""CTAs of copy/tma_persistent on the 132 multiprocessors of an H100 or H200."""


def same_policy(policy: str) -> dict[str, str]:
    """What is set for a policy: nothing for the spec's own."""
    return {} if policy == "static" else {"policy": policy}


# A tile is 8 x 2048.
SHAPES = [
    (0, 8),
    (8, 0),
    (1, 8),  # one tile
    (40, 2048 * 3),  # 15 tiles: fewer than CTAs
    (8 * CTAS, 2048),  # one a CTA
    (8 * CTAS, 2048 * 3),  # three tiles a CTA
    (8 * CTAS + 3, 2048 * 3 + 264),  # ragged on both edges
    (1000, 1016),
    (77, 4104),
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_tma_persistent(kernel: Load, shape: tuple[int, int], policy: str) -> None:
    copies(kernel("copy/tma_persistent", **same_policy(policy)), shape, torch.bfloat16)


@pytest.mark.parametrize("policy", ["static", "atomic"])
@pytest.mark.parametrize("shape", [(40_000, 32_768), (3, 2**30 // 2 + 8)])
def test_tma_persistent_beyond_32_bits(kernel: Load, shape: tuple[int, int], policy: str) -> None:
    copies(kernel("copy/tma_persistent", **same_policy(policy)), shape, torch.bfloat16)


def between(source: Any, target: Any, first: int, last: int, row: int, what: str) -> None:
    """Rows from `first` to `last` of `row` bytes are copied, and all else is as it was."""
    torch.cuda.synchronize()
    assert torch.equal(target[first * row : last * row], source[first * row : last * row]), what
    assert bool((target[: first * row] == POISON).all()), f"{what}: wrote before"
    assert bool((target[last * row :] == POISON).all()), f"{what}: wrote behind"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("room", [0, 1, 3, 4, 1000, 4 * 132 * 3 + 2])
def test_skip_tiles(kernel: Load, room: int, policy: str) -> None:
    copy = kernel("copy/skip_tiles", **same_policy(policy))
    for count in sorted({0, 1, 2, 4, 5, room // 2, max(room - 1, 0), room}):
        if count > room:
            continue
        source = fresh((room, 512), torch.bfloat16)
        target = poisoned(source)
        here = torch.tensor([count], dtype=torch.int32, device="cuda")
        shape = (room, 512)
        copy(here, view(source, shape, torch.bfloat16), view(target, shape, torch.bfloat16))
        between(source, target, 0, count, 1024, f"{count} of {room}")


LENGTHS = {
    "one row": [1],
    "one empty": [0],
    "all empty": [0] * 1000,
    "some empty": [0, 5, 300, 16, 0, 1, 0, 0, 3],
    "fewer than CTAs": [7] * 50,
    "three a CTA": [4, 9, 1] * 132,
    "one in ten": [400 if i % 10 == 3 else 20 for i in range(700)],
    "mostly empty": [i % 7 if i % 5 == 0 else 0 for i in range(2000)],
    "one long": [50_000],
}


def sums(lengths: list[int]) -> Any:
    """The running sum, beginning with zero, as 32-bit integers on the device."""
    return torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32, device="cuda")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", LENGTHS)
def test_varlen(kernel: Load, name: str, policy: str) -> None:
    lengths, copy = LENGTHS[name], kernel("copy/varlen", **same_policy(policy))
    total, before, behind = sum(lengths), 3, 5
    # Rows that belong to no sequence lie around them.
    shape = (before + total + behind, 512)
    source = fresh(shape, torch.bfloat16)
    target = poisoned(source)
    offsets = (sums(lengths) + before).int()
    for _ in range(3):
        copy(offsets, view(source, shape, torch.bfloat16), view(target, shape, torch.bfloat16))
    between(source, target, before, before + total, 1024, name)


def test_varlen_of_no_sequence(kernel: Load) -> None:
    for policy in POLICIES:
        source = fresh((4, 512), torch.bfloat16)
        target = poisoned(source)
        x, y = (view(raw, (4, 512), torch.bfloat16) for raw in (source, target))
        kernel("copy/varlen", **same_policy(policy))(sums([]), x, y)
        between(source, target, 0, 0, 1024, policy)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("columns", [8, 256, 1016])
@pytest.mark.parametrize("name", LENGTHS)
def test_groups(kernel: Load, name: str, columns: int, policy: str) -> None:
    lengths, copy = LENGTHS[name], kernel("copy/groups", **same_policy(policy))
    total = sum(lengths)
    source = fresh((total, columns), torch.bfloat16)
    target = poisoned(source)
    tiles = sums([-(-length // 16) for length in lengths])
    x, y = (view(raw, (total, columns), torch.bfloat16) for raw in (source, target))
    copy(sums(lengths), tiles, x, y)
    between(source, target, 0, total, columns * 2, name)


def test_groups_write_their_own_rows_alone(kernel: Load) -> None:
    """A gap behind each group: what a tile's box reaches beyond the group stays as it was."""
    rows, lengths, gap = 0, [5, 16, 0, 33], 7
    starts = []
    for length in lengths:
        starts.append(rows)
        rows += length + gap
    x = torch.randn(rows, 264, device="cuda").bfloat16()
    for policy in POLICIES:
        for group, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            y = torch.full_like(x, 3.0)
            offsets = torch.tensor([start, start + length], dtype=torch.int32, device="cuda")
            kernel("copy/groups", **same_policy(policy))(offsets, sums([-(-length // 16)]), x, y)
            wanted = torch.full_like(x, 3.0)
            wanted[start : start + length] = x[start : start + length]
            assert torch.equal(y, wanted), (policy, group)


@pytest.mark.parametrize("policy", ["static", "atomic"])
@pytest.mark.parametrize("rows", [0, 1, 2, 131, 263, 264, 265, 3 * 264, 10_000])
def test_rmsnorm_persistent(kernel: Load, rows: int, policy: str) -> None:
    columns, eps = 8192, 1e-6
    x = torch.randn(rows, columns, device="cuda").bfloat16()
    w = torch.randn(columns, device="cuda").bfloat16()
    y = torch.full_like(x, float("nan"))
    kernel("norm/rmsnorm_persistent", **same_policy(policy))(x, w, y, eps)
    torch.cuda.synchronize()
    if rows:
        wide = x.double()
        wanted = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * w.double()
        assert (torch.linalg.norm(y.double() - wanted) / torch.linalg.norm(wanted)).item() < 1e-2


# ---- the chain ---------------------------------------------------------------------------------------------

CHAINS = [{}, {"PDL": "false"}]


@pytest.mark.parametrize("settings", CHAINS, ids=["early", "one after the other"])
@pytest.mark.parametrize("rows", [0, 1, 131, 132, 133, 396, 5000])
def test_chain(kernel: Load, rows: int, settings: dict[str, str]) -> None:
    """Twenty rounds through one pair of buffers: who starts too early reads or overwrites another round's."""
    first = kernel("copy/pdl_chain_first", **settings)
    second = kernel("copy/pdl_chain_second", **settings)
    x = [torch.randn(rows, 2048, device="cuda").bfloat16() for _ in range(20)]
    w = torch.randn(2048, device="cuda").bfloat16()
    y = torch.full((rows, 2048), float("nan"), device="cuda", dtype=torch.bfloat16)
    z = [torch.full_like(y, float("nan")) for _ in x]
    torch.cuda.synchronize()
    for source, target in zip(x, z, strict=True):
        first(source, y)
        second(y, w, target)
    torch.cuda.synchronize()
    for source, target in zip(x, z, strict=True):
        assert torch.equal(target, (source.float() * w.float()).bfloat16())


def test_chain_in_a_graph(kernel: Load) -> None:
    first, second = kernel("copy/pdl_chain_first"), kernel("copy/pdl_chain_second")
    x = [torch.randn(300, 2048, device="cuda").bfloat16() for _ in range(8)]
    w = torch.randn(2048, device="cuda").bfloat16()
    y = torch.empty_like(x[0])
    z = [torch.empty_like(y) for _ in x]
    torch.cuda.synchronize()
    first(x[0], y)
    second(y, w, z[0])
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for source, target in zip(x, z, strict=True):
            first(source, y)
            second(y, w, target)
    for _ in range(3):
        for target in z:
            target.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        for source, target in zip(x, z, strict=True):
            assert torch.equal(target, (source.float() * w.float()).bfloat16())
