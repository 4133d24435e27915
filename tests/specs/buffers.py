"""Buffers that tell what was written: random bits to read, poison to write over, a guard behind both."""

from __future__ import annotations

from typing import Any

POISON = 0xA5


def _torch() -> Any:
    import torch

    return torch


def fresh(shape: tuple[int, ...], dtype: Any) -> Any:
    """Random bits, NaNs of floats included, and a guard behind them that no kernel may touch."""
    count = 1
    for extent in shape:
        count *= extent
    torch = _torch()
    size = torch.empty((), dtype=dtype).element_size()
    raw = torch.randint(0, 256, (count * size + 256,), dtype=torch.uint8, device="cuda")
    return raw


def poisoned(raw: Any) -> Any:
    return _torch().full_like(raw, POISON)


def view(raw: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return raw[:-256].view(dtype).view(shape)


def copies(kernel: Any, shape: tuple[int, ...], dtype: Any) -> None:
    source = fresh(shape, dtype)
    target = poisoned(source)
    kernel(view(source, shape, dtype), view(target, shape, dtype))
    torch = _torch()
    torch.cuda.synchronize()
    assert torch.equal(target[:-256], source[:-256])
    assert bool((target[-256:] == POISON).all()), "wrote behind the end"
