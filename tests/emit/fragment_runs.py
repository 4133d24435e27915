"""What the kernels of `cases/` that move fragments compute, as PyTorch says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., None]


def _normal(torch: Any, *shape: int, dtype: Any) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(sum(shape))
    return torch.randn(*shape, device="cuda", generator=generator, dtype=torch.float32).to(dtype)


def _same(got: Any, expected: Any, what: str) -> None:
    different = (got != expected).sum().item()
    assert different == 0, f"{what}: {different:,} of {expected.numel():,} elements differ"


def _pitched(torch: Any, like: Any, pitch: int, shift: int) -> tuple[Any, Any]:
    """A copy with this many elements from row to row, `shift` elements behind an aligned address; what lies
    between the rows keeps a value of its own.
    """
    *lead, rows, _ = like.shape
    planes = 1
    for extent in lead:
        planes *= extent
    memory = torch.full((planes * rows * pitch + shift + 16,), 5.0, device="cuda").to(like.dtype)
    strides = [pitch, 1]
    for extent in reversed([*lead[1:], rows] if lead else []):
        strides.insert(0, strides[0] * extent)
    made = torch.as_strided(memory, like.shape, strides, shift)
    made.copy_(like)
    return made, memory


def _untouched(torch: Any, made: Any, memory: Any, what: str) -> None:
    """Nothing between the rows of a tensor has been written."""
    copy = memory.clone()
    inner = torch.as_strided(copy, made.shape, made.stride(), made.storage_offset())
    inner.copy_(torch.tensor(5.0, device="cuda"))
    _same(copy.float(), torch.full_like(copy, 5.0, dtype=torch.float32), f"{what} between rows")


def fragments(kernel: Kernel, torch: Any) -> None:
    half, small = torch.float16, torch.float8_e4m3fn
    sizes = ((128, 80, 0, 0), (1, 1, 0, 0), (257, 300, 1, 1), (300, 191, 0, 3), (1000, 778, 2, 2))
    for m, n, extra, shift in sizes:
        what = f"fragments {m} {n} {extra} {shift}"
        values = _normal(torch, m, n, dtype=torch.float32)

        def placed(dtype: Any, *shape: int, by: tuple[int, int] = (extra, shift)) -> Any:
            poison = torch.full(shape, 7.0, device="cuda").to(dtype)
            return _pitched(torch, poison, shape[-1] + by[0], by[1])

        x, _ = _pitched(torch, values, n + extra, shift)
        y, y_memory = placed(torch.bfloat16, m, n)
        z, z_memory = placed(half, 2, m, n)
        t, t_memory = placed(torch.float32, n, m)
        e, e_memory = placed(small, m, n)
        places, places_memory = placed(torch.int32, m, n)
        tiles = -(-n // 80)
        sums, tops = (torch.full((tiles, m), 7.0, device="cuda") for _ in range(2))
        kernel(x, y, z, t.T, e, sums, tops, places)
        gelu = torch.nn.functional.gelu(values.bfloat16().double())
        assert torch.allclose(y.double(), gelu, rtol=2**-8, atol=1e-7), what
        rows = torch.arange(m, device="cuda")
        relu = torch.where((rows % 128 < 100)[:, None], values.relu().to(half), torch.full_like(z[1], 7))
        _same(z[1], relu, f"{what} z")
        _same(z[0], torch.full_like(z[0], 7), f"{what} z[0]")
        _same(t, values.T, f"{what} t")
        silu = torch.nn.functional.silu(values.double())
        assert torch.allclose(e.double(), silu, rtol=2**-4 + 2**-9, atol=2**-10), what
        padded = torch.nn.functional.pad(values.double(), (0, tiles * 80 - n))
        assert torch.allclose(sums.double(), padded.view(m, tiles, 80).sum(-1).T, atol=1e-4), what
        lowest = torch.nn.functional.pad(values, (0, tiles * 80 - n), value=-torch.inf)
        _same(tops, lowest.view(m, tiles, 80).amax(-1).T, f"{what} tops")
        columns = torch.arange(n, device="cuda")
        named = 1000 * (rows % 64)[:, None] + (columns % 80)[None, :]
        _same(places, named.int(), f"{what} places")
        pairs = ((y, y_memory), (z, z_memory), (t, t_memory), (places, places_memory), (e, e_memory))
        for made, memory in pairs:
            _untouched(torch, made, memory, what)


def matrices(kernel: Kernel, torch: Any) -> None:
    for m, n in ((128, 64), (256, 192), (8, 8), (1000, 776)):
        x = _normal(torch, m, n, dtype=torch.bfloat16)
        y, v = (torch.full((n, m), 7.0, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        z, w = torch.full((m, n), 7.0, device="cuda"), torch.full((n, m), 7.0, device="cuda")
        kernel(x, y, v, z, w)
        _same(y, x.T, f"matrices {m} {n} y")
        _same(v, x.T, f"matrices {m} {n} v")
        _same(z, 2 * x.float(), f"matrices {m} {n} z")
        _same(w, x.T.float(), f"matrices {m} {n} w")


def left_in_registers(kernel: Kernel, torch: Any) -> None:
    for m, n, k in ((128, 128, 64), (1, 8, 8), (300, 200, 200), (129, 136, 1000), (1000, 1016, 512)):
        a, b = (_normal(torch, *shape, dtype=torch.bfloat16) for shape in ((m, k), (k, n)))
        c, _ = _pitched(torch, _normal(torch, m, n, dtype=torch.float32), n + 1, 1)
        d, memory = _pitched(torch, torch.full((m, n), 7.0, device="cuda").half(), n + 3, 1)
        kernel(a, b, c, d)
        expected = a.relu().double() @ b.double() + c.double()
        error = ((d.double() - expected).norm() / expected.norm()).item()
        assert error < 1e-3, f"left_in_registers {m} {n} {k}: {error}"
        _untouched(torch, d, memory, f"left_in_registers {m} {n} {k}")


def attention(kernel: Kernel, torch: Any) -> None:
    for heads, s in ((1, 1), (1, 64), (2, 128), (3, 300), (2, 1111), (4, 2048)):
        q, k, v = (_normal(torch, heads, s, 128, dtype=torch.bfloat16) for _ in range(3))
        k, v = k.flip(1), v.flip(2)  # three different ones
        o = torch.full_like(q, 7.0)
        scale = 128**-0.5
        kernel(q, k, v, o, scale)
        scores = q.double() @ k.double().mT * scale
        hidden = torch.ones(s, s, device="cuda", dtype=torch.bool).triu(1)
        expected = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v.double()
        error = ((o.double() - expected).norm() / expected.norm()).item()
        assert error < 1e-2, f"attention {heads} {s}: {error}"


def sent(kernel: Kernel, torch: Any) -> None:
    """Each CTA of four gets what the second next one made of its 16 rows."""
    for m in (1, 16, 64, 1000, 64 * 500 + 17):
        x = _normal(torch, m, 256, dtype=torch.float32)
        y = torch.full_like(x, 7.0)
        rows = -(-m // 64)
        whole = torch.zeros(rows * 64, 256, device="cuda")
        whole[:m] = x
        parts = whole.view(rows, 4, 16, 2, 128)
        index = torch.arange(rows, device="cuda").view(-1, 1, 1, 1)
        made = torch.stack([parts[..., 0, :] + index, parts[..., 1, :] - index], -2)
        wanted = made.roll(2, 1).reshape(rows * 64, 256)[:m]
        for _ in range(5):
            kernel(x, y)
        _same(y, wanted, f"sent {m}")


def nibbles(kernel: Kernel, torch: Any) -> None:
    """Two elements a byte, the first one in its lower half, as they are and as the numbers that they mean."""
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
    table = torch.cat([table, -table])
    for m, n in ((16, 256), (1, 2), (33, 520), (200, 1026)):
        pitch = -(-n // 32) * 16
        generator = torch.Generator(device="cuda").manual_seed(m + n)
        whole = torch.randint(0, 256, (m, pitch), device="cuda", dtype=torch.uint8, generator=generator)
        x, y = whole[:, : n // 2], torch.full_like(whole, 7)[:, : n // 2]
        z = torch.full((m, n), 9.0, device="cuda")
        kernel(x, y, z)
        _same(y, x, f"nibbles {m} {n} y")
        numbers = torch.stack([table[(x & 15).long()], table[(x >> 4).long()]], -1).reshape(m, n)
        _same(z, numbers, f"nibbles {m} {n} z")


FRAGMENT_RUNS: dict[str, Callable[[Kernel, Any], None]] = {
    run.__name__: run for run in (fragments, matrices, left_in_registers, attention, sent, nibbles)
}
