"""Measures the shipped kernels on the GPU at hand and writes the figures as JSON.

    python benchmarks/run.py --cubins build --suite copy --suite norm --out benchmarks/results

`--cubins` is a folder of `tsc build` outputs named for their specs (`copy_bulk.cubin`).
Needs PyTorch and cuda-python.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tsc
from benchmarks import queues
from benchmarks.interleave import Contestant, race

MIB = 1 << 20
# Working sets together are several times the L2, so that no launch finds its input there.
ROTATE_BYTES = 512 * MIB


def buffer_sets(bytes_a_set: int) -> int:
    """Return how many sets of buffers to rotate over."""
    return max(1, min(64, -(-ROTATE_BYTES // bytes_a_set)))


def rows_of(contestants: list[Contestant], moved: int, base: Contestant) -> list[dict[str, Any]]:
    """Return a row a contestant: microseconds, GB/s, ratio to the base, spread."""
    return [
        {
            "name": c.name,
            "microseconds": round(c.median * 1e6, 2),
            "gb_per_second": round(moved / c.median / 1e9, 1),
            "ratio": round(base.median / c.median, 4),
            "spread": round(c.spread, 4),
        }
        for c in contestants
    ]


def void(_: Any) -> None:
    """Drop what a call returns."""


def copy_suite(cubins: Path, turns: int, sizes: tuple[int, ...] = (64, 512, 4096)) -> list[dict[str, Any]]:
    """Copies of n bytes against memcpy: the floor is n bytes read and n written."""
    return [copy_case(cubins, turns, mebibytes) for mebibytes in sizes]


COLUMNS = 16384
"""Columns of the two-dimensional copies."""


def shape_of(spec: str, size: int) -> tuple[torch.dtype, tuple[int, ...]] | None:
    """Return how a copy sees `size` bytes."""
    if spec.startswith("copy_bulk"):
        return torch.uint8, (size,)
    if spec.startswith("copy_grid_stride"):
        return torch.float32, (size // 4,)
    if spec.startswith(("copy_tma", "copy_cp_async")):
        return torch.bfloat16, (size // 2 // COLUMNS, COLUMNS)
    return None


def copy_case(cubins: Path, turns: int, mebibytes: int) -> dict[str, Any]:
    """One size: every copy is compared with its source before it is timed."""
    size = mebibytes * MIB
    sets = buffer_sets(2 * size)
    sources = [torch.randint(0, 256, (size,), dtype=torch.uint8, device="cuda") for _ in range(sets)]
    targets = [torch.empty_like(source) for source in sources]
    memcpy = Contestant("memcpy", lambda i: void(targets[i].copy_(sources[i])))
    contestants = [memcpy]
    for path in sorted(cubins.glob("copy_*.cubin")):
        seen = shape_of(path.stem, size)
        if seen is None:
            continue
        dtype, shape = seen
        pairs = [
            (source.view(dtype).view(shape), target.view(dtype).view(shape))
            for source, target in zip(sources, targets, strict=True)
        ]
        contestant = Contestant(path.stem, caller(tsc.load(path), pairs))
        targets[0].fill_(0xA5)
        contestant.launch(0)
        if not torch.equal(targets[0], sources[0]):
            raise SystemExit(f"{contestant.name} at {mebibytes} MiB does not copy")
        contestants.append(contestant)
    race(contestants, sets, turns=turns, launches=10 if mebibytes < 4096 else 3)
    rows = rows_of(contestants, 2 * size, memcpy)
    torch.cuda.empty_cache()
    return {"case": f"{mebibytes} MiB", "bytes": 2 * size, "sets": sets, "rows": rows}


def caller(kernel: Callable[..., None], sets: list[tuple[Any, ...]]) -> Callable[[int], None]:
    """Return a launch that takes its arguments from one of the sets."""
    return lambda i: kernel(*sets[i])


def norm_suite(cubins: Path, turns: int) -> list[dict[str, Any]]:
    """RMSNorm of bf16 rows against memcpy and PyTorch; the floor is each row read once and written once."""
    rows, columns, eps = 16384, 8192, 1e-6
    size = rows * columns * 2
    sets = buffer_sets(2 * size)
    xs = [torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(sets)]
    ys = [torch.empty_like(x) for x in xs]
    w = torch.randn(columns, device="cuda").bfloat16()
    norm = torch.nn.functional.rms_norm
    memcpy = Contestant("memcpy", lambda i: void(ys[i].copy_(xs[i])))
    contestants = [memcpy, Contestant("torch.rms_norm", lambda i: void(norm(xs[i], (columns,), w, eps)))]
    arguments = [(x, w, y, eps) for x, y in zip(xs, ys, strict=True)]
    for path in sorted(cubins.glob("norm_rmsnorm*.cubin")):
        contestants.append(Contestant(path.stem, caller(tsc.load(path), arguments)))
    race(contestants, sets, turns=turns)
    case = f"{rows} x {columns} bf16"
    return [{"case": case, "bytes": 2 * size, "sets": sets, "rows": rows_of(contestants, 2 * size, memcpy)}]


def queue_suite(cubins: Path, turns: int) -> list[dict[str, Any]]:
    """Tiles by number and tiles from a counter."""
    return queues.varlen(cubins, turns, rows_of)


def chain_suite(cubins: Path, turns: int) -> list[dict[str, Any]]:
    """Two kernels one after the other, and the second one early."""
    return queues.chain(cubins, turns, rows_of)


SUITES: dict[str, Callable[..., list[dict[str, Any]]]] = {
    "copy": copy_suite,
    "norm": norm_suite,
    "queue": queue_suite,
    "chain": chain_suite,
}


def conditions(commit: str) -> dict[str, Any]:
    """Return what the figures were taken on."""
    query = "driver_version,clocks.sm,temperature.gpu,power.draw"
    smi = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    driver, *state = (
        [part.strip() for part in smi.stdout.splitlines()[0].split(",")] if smi.stdout else ["unknown"]
    )
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit,
        "device": torch.cuda.get_device_name(),
        "driver": driver,
        "state": state,
        "torch": torch.__version__,
        "tsc": tsc.__version__,
        "method": "CUDA events, random order each turn, medians; buffers rotated over 512 MiB or more",
    }


def main() -> None:
    """Run the suites asked for and write one file each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cubins", type=Path, required=True)
    parser.add_argument("--suite", action="append", choices=sorted(SUITES), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--turns", type=int, default=24)
    parser.add_argument("--mebibytes", type=int, action="append", help="sizes of the copy suite")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for suite in options.suite:
        extra = {"sizes": tuple(options.mebibytes)} if suite == "copy" and options.mebibytes else {}
        cases = SUITES[suite](options.cubins, options.turns, **extra)
        result = {"suite": suite, **conditions(options.commit), "cases": cases}
        (options.out / f"{suite}.json").write_text(json.dumps(result, indent=1) + "\n")
        for case in cases:
            print(f"\n{suite}, {case['case']}")
            for row in sorted(case["rows"], key=lambda r: -r["ratio"]):
                speed = f"{row['microseconds']:>10} us {row['gb_per_second']:>8} GB/s"
                print(f"  {row['name']:36} {speed}  x{row['ratio']}")


if __name__ == "__main__":
    main()
