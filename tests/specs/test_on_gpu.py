"""Shipped kernels on a GPU, against a reference: sizes 0, 1, ragged and beyond 2^31 bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tsc
from tests.specs.buffers import copies

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.gpu

ONE_D = [0, 1, 3, 15, 16, 17, 4096, 1_000_003]
TWO_D = [(0, 8), (1, 8), (3, 0), (64, 64), (65, 72), (1000, 1016), (257, 4104)]


@pytest.mark.parametrize("n", ONE_D)
def test_grid_stride(kernel: Callable[..., Any], n: int) -> None:
    copies(kernel("copy/grid_stride"), (n,), torch.float32)


@pytest.mark.parametrize("n", ONE_D)
def test_bulk(kernel: Callable[..., Any], n: int) -> None:
    copies(kernel("copy/bulk"), (n,), torch.uint8)


@pytest.mark.parametrize("shape", TWO_D)
def test_tma(kernel: Callable[..., Any], shape: tuple[int, int]) -> None:
    copies(kernel("copy/tma"), shape, torch.bfloat16)


@pytest.mark.parametrize("shape", [*TWO_D, (1, 1)])
def test_cp_async(kernel: Callable[..., Any], shape: tuple[int, int]) -> None:
    copies(kernel("copy/cp_async"), shape, torch.bfloat16)


@pytest.mark.parametrize("spec", ["copy/tma", "copy/cp_async"])
def test_rows_that_are_no_multiple_of_16_bytes_are_refused(kernel: Callable[..., Any], spec: str) -> None:
    x = torch.zeros(7, 3, dtype=torch.bfloat16, device="cuda")
    with pytest.raises(tsc.LaunchError, match="`x`"):
        kernel(spec)(x, torch.zeros_like(x))


BEYOND = 2**31 + 2**20  # elements of one byte, or bytes


@pytest.mark.parametrize(
    ("spec", "shape", "dtype"),
    [
        ("copy/grid_stride", (BEYOND // 4 + 1,), torch.float32),
        ("copy/grid_stride", (2**31 + 5,), torch.float32),
        ("copy/bulk", (BEYOND + 7,), torch.uint8),
        ("copy/bulk", (2**32 + 33,), torch.uint8),
        ("copy/tma", (40_000, 32_768), torch.bfloat16),
        ("copy/tma", (3, 2**30 // 2 + 8), torch.bfloat16),
        ("copy/cp_async", (40_000, 32_768), torch.bfloat16),
    ],
)
def test_beyond_32_bits(kernel: Callable[..., Any], spec: str, shape: tuple[int, ...], dtype: Any) -> None:
    copies(kernel(spec), shape, dtype)


@pytest.mark.parametrize("rows", [0, 1, 2, 131, 132, 133, 1000, 140_000])
def test_rmsnorm(kernel: Callable[..., Any], rows: int) -> None:
    columns, eps = 8192, 1e-6
    x = torch.randn(rows, columns, device="cuda").bfloat16()
    w = torch.randn(columns, device="cuda").bfloat16()
    y = torch.full_like(x, float("nan"))
    kernel("norm/rmsnorm")(x, w, y, eps)
    for begin in range(0, rows, 10_000):
        part = x[begin : begin + 10_000].double()
        wanted = part * torch.rsqrt(part.square().mean(-1, keepdim=True) + eps) * w.double()
        got = y[begin : begin + 10_000].double()
        assert (torch.linalg.norm(got - wanted) / torch.linalg.norm(wanted)).item() < 1e-2


def test_launches_in_a_graph(kernel: Callable[..., Any]) -> None:
    copy = kernel("copy/tma")
    x = torch.randn(1000, 1016, device="cuda").bfloat16()
    y = torch.empty_like(x)
    copy(x, y)
    y.fill_(0)
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        copy(x, y)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, y)
