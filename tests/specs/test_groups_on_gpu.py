"""The shipped merge and fork: bit for bit, over poisoned outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.specs.buffers import POISON, fresh, poisoned, view

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.gpu

Load = Callable[..., Any]

# A tile is 8 x 256.
SHAPES = [(0, 8), (1, 8), (8, 256), (24, 2048), (1056, 3328), (1059, 10248), (3079, 4104)]


@pytest.mark.parametrize("policy", ["static", "atomic", "grid"])
@pytest.mark.parametrize("shape", SHAPES)
def test_merge(kernel: Load, shape: tuple[int, int], policy: str) -> None:
    copy = kernel("copy/merge", **({} if policy == "static" else {"policy": policy}))
    for _ in range(3):
        a, b = fresh(shape, torch.bfloat16), fresh(shape, torch.bfloat16)
        y = poisoned(fresh((2, *shape), torch.bfloat16))
        parts = (view(one, shape, torch.bfloat16) for one in (a, b))
        copy(*parts, view(y, (2, *shape), torch.bfloat16))
        torch.cuda.synchronize()
        assert torch.equal(y[:-256], torch.cat((a[:-256], b[:-256])))
        assert bool((y[-256:] == POISON).all()), "wrote behind the end"


@pytest.mark.parametrize("policy", ["static", "atomic", "grid"])
@pytest.mark.parametrize("shape", SHAPES)
def test_fork(kernel: Load, shape: tuple[int, int], policy: str) -> None:
    copy = kernel("copy/fork", **({} if policy == "static" else {"policy": policy}))
    for _ in range(3):
        x = fresh((2, *shape), torch.bfloat16)
        y, z = (poisoned(fresh(shape, torch.bfloat16)) for _ in range(2))
        halves = (view(one, shape, torch.bfloat16) for one in (y, z))
        copy(view(x, (2, *shape), torch.bfloat16), *halves)
        torch.cuda.synchronize()
        assert torch.equal(torch.cat((y[:-256], z[:-256])), x[:-256])
        assert bool((y[-256:] == POISON).all() and (z[-256:] == POISON).all()), "wrote behind the end"
