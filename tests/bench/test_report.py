"""What a bench shows, as data and as text."""

from __future__ import annotations

from tsc.bench.race import Lap
from tsc.bench.report import rows, text
from tsc.bench.work import Work

WORK = Work(flop=2 * 10**12, bytes=10**9)


def result() -> dict[str, object]:
    settled = {"gemm": Lap([2e-3, 2e-3, 2.2e-3], 300), "cublas": Lap([2.2e-3, 2.2e-3, 2.2e-3], 280)}
    burst = {"gemm": Lap([1e-3], 20), "cublas": Lap([1.5e-3], 20)}
    names = {"gemm": "gemm of g.cubin", "cublas": "torch.matmul(a, b.T, out=d)"}
    return {
        "kernel": "gemm",
        "case": {"m": 8, "k": 16},
        "device": "H200",
        "torch": "2",
        "unit": WORK.unit,
        "relative_error": 0.0016,
        "rows": rows(names, {"settled": settled, "burst": burst}, WORK),
    }


def test_rows_hold_the_contestants_against_the_first() -> None:
    ours, theirs = rows(
        {"gemm": "", "cublas": "matmul"},
        {"settled": {"gemm": Lap([2e-3], 300), "cublas": Lap([2.2e-3], 280)}},
        WORK,
    )
    assert "ratio" not in ours["settled"]
    assert theirs["ran"] == "matmul"
    assert theirs["settled"]["ratio"] == 1.1
    assert ours["settled"] == {
        "microseconds": 2000.0,
        "speed": 1000.0,
        "spread": 0.0,
        "standard_error": 0.0,
        "turns": 1,
        "launches": 300,
    }


def test_the_text_says_who_was_run_and_how_fast() -> None:
    shown = text(result()).splitlines()
    assert shown[:2] == ["gemm  m=8 k=16  relative error 1.60e-03", "on H200, torch 2"]
    assert shown[3].split() == ["settled", "us", "TFLOP/s", "spread", "times", "as", "fast"]
    assert shown[4].split() == ["gemm", "2,000.00", "1,000.0", "10.0%"]
    assert shown[5].split()[:5] == ["cublas", "2,200.00", "909.1", "0.0%", "1.100"]
    assert shown[9].split()[-3] == "1.500"
    assert shown[-1] == "cublas is torch.matmul(a, b.T, out=d)"
