"""Shipped GEMMs on a GPU against float64: ragged sizes, no k and little k, one tile and several waves.

Rows lie at a pitch with NaNs between them, which no kernel may read; outputs begin as NaNs, with a guard
behind them, and what is not theirs stays as it was. The padding of a row is, where that is promised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.specs.gemms import BATCHED, BLOCKWISE, FP8, GELU, PLAIN, Gemm

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.gpu

Load = Callable[..., Any]
GUARD = 4096  # bytes
POISON = 0xFF  # NaN in every float type used here
TOLERANCE = 1e-2


class Matrix:
    """A tensor whose rows begin at multiples of 16 bytes, or one after another, in memory full of NaNs."""

    def __init__(self, shape: Sequence[int], dtype: Any, *, aligned: bool = True) -> None:
        size = torch.empty((), dtype=dtype).element_size()
        *outer, rows, columns = (1, *shape) if len(shape) == 1 else shape
        unit = 16 // size
        whole = -(-columns // unit) * unit
        pitch = whole + unit if aligned else max(1, columns)
        count = rows * pitch
        for extent in outer:
            count *= extent
        self.raw = torch.full((count * size + GUARD,), POISON, dtype=torch.uint8, device="cuda")
        strides = [rows * pitch * self._product(outer[i + 1 :]) for i in range(len(outer))]
        memory = self.raw[: count * size].view(dtype)
        self.view = torch.as_strided(memory, [*outer, rows, columns], [*strides, pitch, 1])
        self.padded = torch.as_strided(memory, [*outer, rows, min(whole, pitch)], [*strides, pitch, 1])
        if len(shape) == 1:
            self.view = self.view[0]

    @staticmethod
    def _product(extents: Sequence[int]) -> int:
        product = 1
        for extent in extents:
            product *= extent
        return product

    def fill(self, values: Any) -> Any:
        """Put values in and return the view."""
        self.view.copy_(values)
        return self.view

    def only_itself(self, *, padded: bool) -> bool:
        """Whether all that is not the tensor's is as it was; poisons the tensor for that.

        With `padded` its rows are as long as multiples of 16 bytes.
        """
        torch.cuda.synchronize()
        bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[self.view.element_size()]
        own = self.padded if padded else self.view
        own.view(bits).fill_(POISON if bits == torch.uint8 else -1)
        return bool((self.raw == POISON).all())


def pads(kernel: Any) -> bool:
    """Whether a kernel may write what fills up the rows of `d`."""
    return any(tensor.padded for tensor in kernel.manifest.tensors if tensor.name == "d")


def random(shape: Sequence[int], dtype: Any = None) -> Any:
    """N(0, 1) values, rounded to the type they will have."""
    values = torch.randn(*shape, device="cuda")
    return values if dtype is None else values.to(dtype)


def agrees(got: Any, wanted: Any) -> None:
    """Every element is a number, and the relative error is small; where zeros are wanted, there are zeros."""
    torch.cuda.synchronize()
    have = got.double()
    assert bool(torch.isfinite(have).all()), "not written"
    norm = torch.linalg.norm(wanted)
    error = torch.linalg.norm(have - wanted)
    assert error.item() <= TOLERANCE * norm.item(), f"relative error {(error / norm).item():.3g}"


def sizes(gemm: Gemm) -> list[tuple[int, ...]]:
    """Sizes m, n, k that a tile, a ring and a wave make special."""
    ring = gemm.stages * gemm.bk
    return [
        (1, 8, 8),
        (127, 129, 65),
        (100, 264, 0),
        (200, 264, gemm.bk - 24),
        (gemm.bm, gemm.bn, 3 * gemm.bk),
        (gemm.bm * 2 + 1, gemm.bn * 3 + 8, ring),
        (gemm.bm * 3, gemm.bn + 8, ring + 1),
        (gemm.bm, gemm.bn, ring + gemm.bk),
        (gemm.bm * 20 + 5, gemm.bn * 15 + 24, 2 * ring + 8),
    ]


def stored_once(gemm: Gemm) -> list[bool]:
    """Which columns of a tile one CTA alone stores.

    Slices of hopper_splitk_cluster overlap where they do not divide a tile. Each CTA adds up in an order of
    its own, so that what two of them store there differs in its last bits, and the later one stays.
    """
    slices, extent = gemm.settings.get("SPLITS", 4), gemm.settings.get("SN", 32)
    if "cluster" not in gemm.spec:
        return [True] * gemm.bn
    begins = [min(i * int(extent), gemm.bn - int(extent)) for i in range(int(slices))]
    return [sum(it <= column < it + int(extent) for it in begins) == 1 for column in range(gemm.bn)]


def names(sizes_of: Callable[[Gemm], list[tuple[int, ...]]], gemms: list[Gemm]) -> list[Any]:
    """Parameters: each kernel with each of its sizes."""
    return [
        pytest.param(gemm, size, id=f"{gemm}-{'x'.join(map(str, size))}")
        for gemm in gemms
        for size in sizes_of(gemm)
    ]


@pytest.mark.parametrize(("gemm", "size"), names(sizes, PLAIN))
def test_plain(kernel: Load, gemm: Gemm, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a = Matrix((m, k), torch.bfloat16)
    b = Matrix((n, k), torch.bfloat16)
    d = Matrix((m, n), torch.bfloat16, aligned="unaligned" not in gemm.spec)
    wanted = a.fill(random((m, k))).double() @ b.fill(random((n, k))).double().T
    run = kernel(gemm.path, **gemm.settings)
    run(a.view, b.view, d.view)
    agrees(d.view, wanted)
    once = torch.tensor(stored_once(gemm), device="cuda").repeat(-(-n // gemm.bn))[:n]
    first = d.view[:, once].clone()
    run(a.view, b.view, d.view)
    torch.cuda.synchronize()
    agrees(d.view, wanted)
    if "reduce" not in gemm.spec:  # whose parts are added in any order
        assert torch.equal(first, d.view[:, once]), "a second launch gives something else"
    assert d.only_itself(padded=pads(run))


def batches(gemm: Gemm) -> list[tuple[int, ...]]:
    """The same sizes, of one product or several."""
    return [(batch, *size) for batch, size in zip([1, 3, 3, 2, 3, 3, 2, 5, 1], sizes(gemm), strict=True)]


@pytest.mark.parametrize(("gemm", "size"), names(batches, BATCHED))
def test_batched(kernel: Load, gemm: Gemm, size: tuple[int, int, int, int]) -> None:
    batch, m, n, k = size
    a = Matrix((batch, m, k), torch.bfloat16)
    b = Matrix((batch, n, k), torch.bfloat16)
    d = Matrix((batch, m, n), torch.bfloat16)
    wanted = a.fill(random((batch, m, k))).double() @ b.fill(random((batch, n, k))).double().mT
    run = kernel(gemm.path, **gemm.settings)
    run(a.view, b.view, d.view)
    agrees(d.view, wanted)
    assert d.only_itself(padded=pads(run))


@pytest.mark.parametrize(("gemm", "size"), names(sizes, GELU))
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.1, 2.0)])
def test_bias_gelu(kernel: Load, gemm: Gemm, size: tuple[int, int, int], alpha: float, beta: float) -> None:
    m, n, k = size
    a = Matrix((m, k), torch.bfloat16)
    b = Matrix((n, k), torch.bfloat16)
    c = Matrix((m, n), torch.bfloat16)
    bias = Matrix((n,), torch.bfloat16)
    d = Matrix((m, n), torch.bfloat16)
    wanted = alpha * (a.fill(random((m, k))).double() @ b.fill(random((n, k))).double().T)
    wanted = wanted + beta * c.fill(random((m, n))).double() + bias.fill(random((n,))).double()
    run = kernel(gemm.path, **gemm.settings)
    run(a.view, b.view, c.view, bias.view, alpha, beta, d.view)
    agrees(d.view, torch.nn.functional.gelu(wanted))
    assert d.only_itself(padded=pads(run))


@pytest.mark.parametrize(("gemm", "size"), names(sizes, FP8))
def test_fp8(kernel: Load, gemm: Gemm, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a = Matrix((m, k), torch.float8_e4m3fn)
    b = Matrix((n, k), torch.float8_e4m3fn)
    d = Matrix((m, n), torch.bfloat16)
    wanted = a.fill(random((m, k))).double() @ b.fill(random((n, k))).double().T
    run = kernel(gemm.path, **gemm.settings)
    run(a.view, b.view, 0.5, 0.25, d.view)
    agrees(d.view, wanted / 8)
    assert d.only_itself(padded=pads(run))


@pytest.mark.parametrize(("gemm", "size"), names(sizes, BLOCKWISE))
def test_fp8_blockwise(kernel: Load, gemm: Gemm, size: tuple[int, int, int]) -> None:
    m, n, k = size
    blocks, of_n = -(-k // 128), -(-n // 128)
    a = Matrix((m, k), torch.float8_e4m3fn)
    b = Matrix((n, k), torch.float8_e4m3fn)
    scale_a = Matrix((blocks, m), torch.float32)
    scale_b = Matrix((of_n, blocks), torch.float32, aligned=False)
    d = Matrix((m, n), torch.bfloat16)
    rows = (
        scale_a.fill(torch.rand(blocks, m, device="cuda") + 0.1).double().T.repeat_interleave(128, 1)[:, :k]
    )
    columns = scale_b.fill(torch.rand(of_n, blocks, device="cuda") + 0.1).double()
    columns = columns.repeat_interleave(128, 0)[:n].repeat_interleave(128, 1)[:, :k]
    wanted = (a.fill(random((m, k))).double() * rows) @ (b.fill(random((n, k))).double() * columns).T
    run = kernel(gemm.path, **gemm.settings)
    run(a.view, b.view, scale_a.view, scale_b.view, d.view)
    agrees(d.view, wanted)
    assert d.only_itself(padded=pads(run))
