"""What each kernel of `cases/` computes, as PyTorch says it: inputs, launches and comparisons on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.emit.fragment_runs import FRAGMENT_RUNS

Kernel = Callable[..., None]


def _normal(torch: Any, *shape: int, dtype: Any = None) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(sum(shape))
    made = torch.randn(*shape, device="cuda", generator=generator, dtype=torch.float32)
    return made.to(dtype) if dtype is not None else made


def _same(got: Any, expected: Any, what: str) -> None:
    different = (got != expected).sum().item()
    assert different == 0, f"{what}: {different:,} of {expected.numel():,} elements differ"


def box5(kernel: Kernel, torch: Any) -> None:
    for shape in ((2, 3, 5, 7, 200), (1, 1, 1, 1, 8), (1, 2, 9, 33, 136)):
        x = _normal(torch, *shape, dtype=torch.bfloat16)
        y = torch.full_like(x, 7)
        kernel(x, y)
        _same(y, x, f"box5 {shape}")


def multicast(kernel: Kernel, torch: Any) -> None:
    for m, n, k in ((100, 200, 200), (1000, 700, 264), (1, 1, 8), (3000, 2000, 72)):
        x, w = _normal(torch, m, k, dtype=torch.bfloat16), _normal(torch, n, k, dtype=torch.bfloat16)
        v = _normal(torch, k)
        y = torch.full((m, n), 9.0, device="cuda")
        for _ in range(3):
            kernel(x, w, v, y)
        expected = (x.double() * v.double()) @ w.double().T
        assert torch.allclose(y.double(), expected, rtol=1e-4, atol=1e-3), f"multicast {m} {n} {k}"


def led(kernel: Kernel, torch: Any) -> None:
    # Many rounds of two stages, so that CTAs of a cluster run ahead of each other.
    for m, n, k in (
        (1, 1, 4),
        (100, 200, 200),
        (1000, 700, 264),
        (1, 1, 64),
        (129, 3000, 1028),
        (65, 65, 8192),
    ):
        pitch = -(-k // 8) * 8
        x = _normal(torch, m, pitch, dtype=torch.bfloat16)[:, :k]
        w = _normal(torch, n, pitch, dtype=torch.bfloat16)[:, :k]
        v = _normal(torch, k)
        y = torch.full((m, n), 9.0, device="cuda")
        for _ in range(10):
            kernel(x, w, v, y)
        expected = (x.double() * v.double()) @ w.double().T
        assert torch.allclose(y.double(), expected, rtol=1e-4, atol=1e-2), f"led {m} {n} {k}"


def reduce(kernel: Kernel, torch: Any) -> None:
    for m, n in ((32, 64), (320, 200), (33, 4)):
        x = _normal(torch, m, n)
        y = torch.zeros(32, n, device="cuda")
        kernel(x, y)
        padded = torch.zeros(-(-m // 32) * 32, n, device="cuda", dtype=torch.float64)
        padded[:m] = x
        assert torch.allclose(y.double(), 2 * padded.view(-1, 32, n).sum(0), atol=1e-4), f"reduce {m} {n}"


def cut_rows(kernel: Kernel, torch: Any) -> None:
    for m, n in ((16, 64), (16 * 37 + 5, 200)):
        x = _normal(torch, m, n, dtype=torch.bfloat16)
        y = torch.full_like(x, 7)
        kernel(x, y)
        rows = torch.arange(m, device="cuda")
        kept = (rows % 16) <= (rows // 16 % 16)
        _same(y, torch.where(kept[:, None], x, torch.full_like(x, 7)), f"cut_rows {m} {n}")


def rounds(kernel: Kernel, torch: Any) -> None:
    for n, first in ((1, 0), (10, 0), (13, 3), (5, 9), (20, -4)):
        y = torch.zeros(n, 16, device="cuda", dtype=torch.int32)
        kernel(y, first)
        _same(y, torch.full_like(y, _rounds(n, first)), f"rounds {n} {first}")


def _rounds(n: int, first: int) -> int:
    """The kernel's sum, by the letter of the language."""
    total, values = 0, list(range(first, n, 2))
    cuts = [min(first + 3, n), min(7, n), n]
    part = 0
    for count, loop in enumerate(values):
        while loop >= cuts[part]:
            part += 1
        scale = 1 + part * 2
        total += (part + 1) * scale if scale > 1 else part + 1
        total += 1000 if count == 0 else 0
        total += count * 100 + len(values) if count == len(values) - 1 else 0
        total += loop if count % 2 == 1 else 0
        for inner, i in enumerate(range(5, 0, -2)):
            total += i if i > 2 and loop < n - 2 else 10000 * inner
            total += 3 if i != 3 else 0
    return total


def tokens(kernel: Kernel, torch: Any) -> None:
    x = torch.tensor([3, 9, -2, 100], device="cuda", dtype=torch.int32)
    for flag in (False, True):
        y = torch.zeros(4, 32, device="cuda")
        kernel(x, y, 0.5, flag)
        value = x * 0.5 + x * 2
        sign = torch.where((x > 8) & (not flag), -1.0, 1.0)
        _same(y, (value * sign)[:, None].expand(4, 32), f"tokens {flag}")


def pingpong(kernel: Kernel, torch: Any) -> None:
    for m in (0, 1, 2, 7, 100):
        x, y = _normal(torch, m, 128), torch.zeros(m, 128, device="cuda")
        log = torch.zeros(m, device="cuda", dtype=torch.int32)
        kernel(x, y, log)
        row = torch.arange(m, device="cuda")
        _same(y, x * (1 + row % 2)[:, None], f"pingpong {m}")
        _same(log, (row * 10 + row % 2).int(), f"pingpong log {m}")


def replicas(kernel: Kernel, torch: Any) -> None:
    for m in (0, 1, 12, 100):
        x, y = _normal(torch, m, 256), torch.zeros(m, 256, device="cuda")
        kernel(x, y)
        _same(y, x * (torch.arange(m, device="cuda") % 3 + 2)[:, None], f"replicas {m}")


def groups(kernel: Kernel, torch: Any) -> None:
    for rows in (0, 1, 333):
        x, r = (
            _normal(torch, rows, 256, dtype=torch.bfloat16),
            _normal(torch, rows, 256, dtype=torch.bfloat16) * 2,
        )
        y, z = torch.zeros_like(x), torch.zeros_like(x)
        kernel(x, r, y, z)
        _same(y, x + r, f"groups {rows}")
        _same(z, x - r, f"groups {rows}")


def fused(kernel: Kernel, torch: Any) -> None:
    for m, skipped in ((1, 7), (50, 2), (333, 0)):
        x, y = _normal(torch, m, 128), torch.zeros(m, 128, device="cuda")
        kernel(x, y, skipped)
        row, col = torch.arange(m, device="cuda")[:, None], torch.arange(128, device="cuda")
        _same(
            y,
            torch.where(row % 5 == skipped, torch.full_like(x, -1.0), x) + (row * 3 + col),
            f"fused {m} {skipped}",
        )


def proxies(kernel: Kernel, torch: Any) -> None:
    for m, n in ((100, 1000), (1, 4), (1600, 2048)):
        x = _normal(torch, m, n)
        y, z = torch.zeros_like(x), torch.zeros_like(x)
        kernel(x, y, z)
        _same(y, x, f"proxies {m} {n}")
        _same(z, x, f"proxies {m} {n}")


def budgets(kernel: Kernel, torch: Any) -> None:
    for m in (0, 1, 5000):
        x = _normal(torch, m, 512)
        y = torch.zeros_like(x)
        kernel(x, y)
        _same(y, x + 1, f"budgets {m}")


def varlen(kernel: Kernel, torch: Any) -> None:
    lengths = [0, 5, 300, 16, 0, 1, 77]
    offsets = torch.tensor([0, *lengths], device="cuda", dtype=torch.int32).cumsum(0).int()
    x = _normal(torch, sum(lengths), 256, dtype=torch.bfloat16)
    y = torch.full_like(x, 7)
    kernel(offsets, x, y)
    _same(y, x, "varlen")


def tiles(kernel: Kernel, torch: Any) -> None:
    for a, b, c in ((3, 4, 5), (1, 1, 1), (7, 20, 9)):
        y = torch.full((a, b, c), -1, device="cuda", dtype=torch.int32)
        kernel(y)
        i, j, k = torch.meshgrid(*(torch.arange(e, device="cuda") for e in (a, b, c)), indexing="ij")
        value = ((i * 100 + j) * 100 + k) * 100 + ((i * b + j) * c + k) // min(7, a * b * c)
        _same(y, torch.where(j % 2 == 0, value, torch.full_like(value, -1)).int(), f"tiles {a} {b} {c}")


def major(kernel: Kernel, torch: Any) -> None:
    m, n = 136, 70
    x = _normal(torch, n, m, dtype=torch.float16).T
    y = torch.zeros(n, m, device="cuda", dtype=torch.float16).T
    z = torch.zeros(n, m, device="cuda", dtype=torch.float8_e4m3fn)
    q = torch.zeros(n, m // 2, device="cuda", dtype=torch.int8)
    kernel(x, y, z, q)
    _same(y, x, "major")
    _same(z.float(), x.T.to(torch.float8_e4m3fn).float(), "major e4m3")
    nearest = x.T.float().round().clamp(-8, 7).int() & 15
    _same(q.view(torch.uint8).int(), nearest[:, ::2] | nearest[:, 1::2] << 4, "major i4")


def observe(kernel: Kernel, torch: Any) -> None:
    for m in (0, 1, 100):
        x = _normal(torch, m, 128)
        y = torch.zeros_like(x)
        kernel(x, y)
        _same(y, x, f"observe {m}")


def deep(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 50):
        x = _normal(torch, m, 2560)
        y = torch.zeros_like(x)
        kernel(x, y, torch.tensor(3.0, device="cuda"))
        _same(y, x * 3, f"deep {m}")


def pairs(kernel: Kernel, torch: Any) -> None:
    w = torch.randint(-8, 8, (256,), device="cuda").to(torch.bfloat16)
    for m, n in ((2, 256), (6, 8), (12, 200)):
        v = torch.randint(-8, 8, (n,), device="cuda").to(torch.bfloat16)
        y = torch.zeros(m, 256, device="cuda", dtype=torch.bfloat16)
        kernel(w, v, y)
        block = torch.arange(m, device="cuda")[:, None]
        padded = torch.nn.functional.pad(v.float(), (0, 256 - n))
        _same(y, (w.float() * block + padded * (block % 2 + 1)).to(torch.bfloat16), f"pairs {m} {n}")


def unrolled(kernel: Kernel, torch: Any) -> None:
    for rows, first, stride in ((1, 0, 0), (9, 0, 0), (12, 1, 1), (1000, 5, 2), (1001, 2000, 3), (0, 0, 0)):
        x = _normal(torch, rows, 256)
        y, sums = torch.zeros_like(x), torch.full((256,), 7.0, device="cuda")
        kernel(x, y, sums, first, stride)
        _same(y, x, f"unrolled {rows}")
        if rows:
            assert torch.allclose(sums, x[first :: stride + 1].sum(0), atol=1e-3), f"unrolled {rows} {first}"


def handed(kernel: Kernel, torch: Any) -> None:
    for rows in (0, 1, 7, 1000):
        x = _normal(torch, rows, 512)
        y, copy, back = (torch.zeros_like(x) for _ in range(3))
        kernel(x, y, copy, back)
        turned = x.view(rows, 128, 4).flip(1).reshape(rows, 512)
        _same(y, x + 1, f"handed {rows} y")
        _same(copy, turned, f"handed {rows} copy")
        _same(back, turned * 2, f"handed {rows} back")


def overlay(kernel: Kernel, torch: Any) -> None:
    for m, n in ((32, 64), (100, 1000), (1, 8), (4000, 520)):
        x = _normal(torch, m, n)
        y = torch.zeros(m, n, device="cuda", dtype=torch.bfloat16)
        for _ in range(5):
            kernel(x, y)
        _same(y, x.to(torch.bfloat16), f"overlay {m} {n}")


def overlay_copies(kernel: Kernel, torch: Any) -> None:
    for rows in (1, 2, 3, 100):  # of none nothing is launched
        x = torch.randint(-8, 8, (rows, 256), device="cuda").float()
        y = torch.full((3, 128), 7.0, device="cuda")
        kernel(x, y)
        sums = x.sum(0).view(2, 128)
        twice = (2 * sums[0]).to(torch.bfloat16).float()
        _same(y, torch.stack((sums[0].flip(0), sums[1].flip(0), twice)), f"overlay_copies {rows}")


def queue_atomic(kernel: Kernel, torch: Any) -> None:
    # The counter is found as the launch before left it, whatever the number of tiles.
    for m in (0, 1, 3, 131, 132, 133, 397, 5000, 4, 5000):
        x, y = _normal(torch, m, 128), torch.full((m, 128), -1.0, device="cuda")
        seq = torch.full((m,), -1, device="cuda", dtype=torch.int32)
        kernel(x, y, seq)
        seen = torch.arange(m, device="cuda") % 5 != 3
        _same(y, torch.where(seen[:, None], 2 * x, torch.full_like(x, -1.0)), f"queue_atomic {m}")
        _same(seq >= 0, seen, f"queue_atomic numbers {m}")


def queue_cluster(kernel: Kernel, torch: Any) -> None:
    for m in (0, 1, 2, 3, 131, 265, 3001):
        x, y = _normal(torch, m, 128), torch.zeros(m, 128, device="cuda")
        for _ in range(3):
            kernel(x, y)
        _same(y, 3 * x, f"queue_cluster {m}")


def queue_stride(kernel: Kernel, torch: Any) -> None:
    for m, step in ((0, 4), (1, 4), (8, 4), (1001, 4), (5, 100)):
        y = torch.zeros(m, device="cuda", dtype=torch.int32)
        kernel(y, step)
        _same(y, torch.ones_like(y), f"queue_stride {m} {step}")


def counted(kernel: Kernel, torch: Any) -> None:
    # The counters are found as the launch before left them.
    for rows in (1, 2, 7, 132, 133, 1001, 7, 7, 7):
        x = _normal(torch, 5, rows, 1024)
        y, z = torch.full((2, rows, 1024), 7.0, device="cuda")
        came = torch.zeros(rows, device="cuda", dtype=torch.int32)
        for _ in range(3):
            kernel(x, y, z, came)
        expected = torch.zeros(rows, 1024, device="cuda")
        for part in x:
            expected += part
        # Each thread left its four in the place of another, which lies as far from the other end.
        _same(y, expected.view(rows, 256, 4).flip(1).reshape(rows, 1024), f"counted {rows} y")
        _same(z, expected, f"counted {rows} z")
        _same(came, torch.ones_like(came), f"counted {rows} came")


def staged(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 4, 5, 333):
        x = _normal(torch, m, 128)
        y = torch.full_like(x, 7)
        kernel(x, y)
        _same(y, 2 * x, f"staged {m}")


def alone(kernel: Kernel, torch: Any) -> None:
    for m in (2, 4, 6, 8, 334):
        x = _normal(torch, m, 128)
        y = torch.full_like(x, 7)
        kernel(x, y)
        _same(y, x, f"alone {m}")


def gathered(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 333):
        x = torch.randint(-8, 8, (2, m, 128), device="cuda").float()
        y = torch.full((m, 128), 7.0, device="cuda")
        kernel(x, y)
        _same(y, x[1] - x[0], f"gathered {m}")


def ahead(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 5, 333):
        x = _normal(torch, m, 128)
        y, z = torch.full_like(x, 7), torch.full_like(x, 7)
        kernel(x, y, z)
        _same(y, 2 * x, f"ahead {m} y")
        _same(z, x, f"ahead {m} z")


def lanes(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 4, 5, 6, 7, 13, 1000):
        x = torch.randint(-8, 8, (m, 128), device="cuda").float()
        y = torch.full_like(x, 7)
        kernel(x, y)
        _same(y, x + _counted(torch, m), f"lanes {m}")


def _counted(torch: Any, m: int) -> Any:
    return torch.arange(m, device="cuda")[:, None] * 3 + torch.arange(128, device="cuda")


def mixed(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 4, 9, 10, 1001):
        x, w = (torch.randint(-8, 8, (m, 128), device="cuda").float() for _ in range(2))
        y = torch.full_like(x, 7)
        kernel(x, w, y)
        _same(y, w + (x + _counted(torch, m)).flip(1), f"mixed {m}")


def returned(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 4, 5, 1000):
        x = _normal(torch, m, 128)
        y, z = torch.full_like(x, 7), torch.full_like(x, 7)
        kernel(x, y, z)
        _same(y, 2 * x.flip(1), f"returned {m} y")
        _same(z, 2 * x, f"returned {m} z")


def routed(kernel: Kernel, torch: Any) -> None:
    for m, n in ((1, 1), (2, 8), (3, 100), (7, 1000), (40, 500)):
        w = _normal(torch, n, 64)
        y = torch.full((m, n, 64), 7.0, device="cuda")
        z = torch.full((m, -(-n // 8), 64), -1, device="cuda", dtype=torch.int32)
        kernel(w, y, z)
        _same(y, w.expand(m, n, 64), f"routed {m} {n} y")
        i, j, c = torch.meshgrid(*(torch.arange(e, device="cuda") for e in z.shape), indexing="ij")
        _same(z, ((i * 100 + j) * 100 + c).int(), f"routed {m} {n} z")


def both_sides(kernel: Kernel, torch: Any) -> None:
    for m in (1, 2, 3, 7, 1000):
        x = _normal(torch, m, 128)
        y, v = torch.full_like(x, 7), torch.full_like(x, 7)
        z = torch.full((m, 128), -1, device="cuda", dtype=torch.int32)
        kernel(x, y, z, v)
        loaded = (torch.arange(m, device="cuda") % 3 != 0)[:, None]
        _same(y, torch.where(loaded, x, torch.full_like(x, -1)), f"both_sides {m} y")
        _same(z, _counted(torch, m).int(), f"both_sides {m} z")
        _same(v, x, f"both_sides {m} v")


def lanes_cluster(kernel: Kernel, torch: Any) -> None:
    for m, n in ((1, 1), (2, 16), (3, 100), (700, 90)):
        w = _normal(torch, n, 64)
        y = torch.full((m, n, 64), 7.0, device="cuda")
        kernel(w, y)
        _same(y, w.expand(m, n, 64), f"lanes_cluster {m} {n}")


RUNS: dict[str, Callable[[Kernel, Any], None]] = {
    run.__name__: run
    for run in (
        box5,
        multicast,
        led,
        reduce,
        cut_rows,
        rounds,
        tokens,
        pingpong,
        replicas,
        groups,
        fused,
        proxies,
        budgets,
        varlen,
        tiles,
        major,
        observe,
        deep,
        pairs,
        unrolled,
        handed,
        overlay,
        overlay_copies,
        queue_atomic,
        queue_cluster,
        queue_stride,
        counted,
        staged,
        alone,
        gathered,
        ahead,
        lanes,
        mixed,
        returned,
        routed,
        both_sides,
        lanes_cluster,
    )
} | FRAGMENT_RUNS
