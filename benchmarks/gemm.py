"""Measures GEMM kernels against cuBLAS on the GPU at hand, shape by shape, and writes the figures as JSON.

    python benchmarks/gemm.py --cubins build/gemm --plan plan.json --out benchmarks/results/gemm.json

A plan says what is tried: `{"try": [...], "shapes": {"deepk": [...]}, "more": [...]}`. A candidate is the
name of a cubin in the folder, or `{"cubin": ..., "arguments": {...}}`. `more` are further cases,
`{"name", "m", "n", "k", "dtype", "try"}`; `dtype` is `bf16` or `e4m3`. `gemm_build.py` makes cubins and plan.

A shape has two phases in one process: candidates are checked and halved (`tsc.tune.halving`), then the best
two race torch, settled and in bursts (`tsc.bench.race`). The process is watched: a kernel that hangs costs a
new one and is left out. Results are written after each shape; a call with the same `--out` goes on where one
ended.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tsc.bench.watch import Lost, Message, Worker
from tsc.version import VERSION

SHAPES = {
    "square8192": (8192, 8192, 8192),
    "square4096": (4096, 4096, 4096),
    "square2048": (2048, 2048, 2048),
    "square16384": (16384, 16384, 16384),
    "long_k": (4096, 4096, 14336),
    "wide": (8192, 28672, 4096),
    "short_k": (16384, 8192, 1280),
    "shorter_k": (8192, 8192, 512),
    "mid": (4096, 7168, 2048),
    "wide_short_k": (4096, 24576, 1536),
    "decode128": (128, 8192, 8192),
    "decode64": (64, 7168, 16384),
    "decode16": (16, 7168, 2048),
    "tall": (65536, 1024, 1024),
    "deepk": (512, 512, 32768),
    "odd_mn": (4095, 4097, 4096),
    "odd_tiles": (4000, 4808, 4104),
}
"""The 17 shapes, m x n x k."""
NOT_IN_MEAN = "odd_mn"
FIRST_ANSWER = 120.0
"""Seconds that a new worker may take to load torch and set up CUDA."""
SMI = ("clocks.sm", "power.draw", "temperature.gpu")


@dataclass(frozen=True, slots=True)
class Case:
    """One shape and what is tried on it."""

    name: str
    m: int
    n: int
    k: int
    dtype: str
    candidates: tuple[Message, ...]

    @property
    def counts(self) -> bool:
        """Whether the shape is one of those that the mean is about."""
        return self.name in SHAPES and self.name != NOT_IN_MEAN


@dataclass(slots=True)
class Options:
    """What the call says about time."""

    seconds: float = 900.0
    """for everything; no shape is begun that would pass it"""
    tune_seconds: float = 90.0
    """of these, for tuning, shared out evenly"""
    finalists: int = 2
    turns: int = 8
    bursts: int = 5
    load: float = 1.0
    least: int = 300
    silence: float = 20.0
    retries: int = 6
    """workers that one shape may cost"""
    now: Callable[[], float] = field(default=time.monotonic)


def cases_of(plan: Message, cubins: Path) -> list[Case]:
    """The cases of a plan, the 17 shapes first. Raises ValueError for what a plan cannot mean."""
    unknown = {*plan} - {"try", "shapes", "more"} or {*plan.get("shapes", {})} - {*SHAPES}
    if unknown:
        raise ValueError(f"the plan has `{sorted(unknown)[0]}`, which is no key and no shape of it")
    cases = []
    for name, (m, n, k) in SHAPES.items():
        tried = plan.get("shapes", {}).get(name, plan.get("try", []))
        if tried:
            cases.append(Case(name, m, n, k, "bf16", _candidates(tried, cubins)))
    for more in plan.get("more", []):
        tried = _candidates(more["try"], cubins)
        cases.append(Case(more["name"], more["m"], more["n"], more["k"], more.get("dtype", "bf16"), tried))
    return cases


def _candidates(tried: Sequence[str | Message], cubins: Path) -> tuple[Message, ...]:
    found: dict[str, Message] = {}
    for one in tried:
        candidate = {"cubin": one} if isinstance(one, str) else dict(one)
        candidate.setdefault("name", candidate["cubin"])
        path = cubins / f"{candidate['cubin']}.cubin"
        if not path.is_file():
            raise ValueError(f"the plan tries `{candidate['cubin']}`, and there is no `{path}`")
        found[candidate["name"]] = {**candidate, "path": str(path)}
    return tuple(found.values())


def measure(case: Case, worker: Worker, options: Options, tune_seconds: float) -> Message:
    """Everything about one shape. Candidates that fail are in `failed`, with the reason."""
    failed: list[Message] = []
    states: list[Message] = []
    result: Message = {"rows": []}
    for _ in range(options.retries):
        out = {one["name"] for one in failed}
        left = [one for one in case.candidates if one["name"] not in out]
        if not left:
            break
        request = {
            **{"m": case.m, "n": case.n, "k": case.k, "dtype": case.dtype, "candidates": left},
            **{"seconds": tune_seconds, "finalists": options.finalists, "turns": options.turns},
            **{"bursts": options.bursts, "load": options.load, "least": options.least},
        }
        lost: Lost | None = None
        for message in worker.ask(request, options.silence, FIRST_ANSWER):
            if isinstance(message, Lost):
                lost = message
            elif "failed" in message:
                failed.append({"name": message["failed"], "why": message["why"]})
            elif "racing" in message:
                states = list(_states())
            elif "result" in message:
                result = message["result"]
        if lost is None:
            break
        failed.append({"name": lost.at, "why": lost.why})
        if lost.at not in {one["name"] for one in left}:
            # Not a kernel's fault that could be left out: the machine's, or torch's.
            break
    return {
        **{"case": f"{case.m} x {case.n} x {case.k}", "name": case.name, "dtype": case.dtype},
        **{"m": case.m, "n": case.n, "k": case.k, "in_mean": case.counts},
        **result,
        **({"state": states[0]} if states else {}),
        **({"failed": failed} if failed else {}),
    }


def _states() -> Iterator[Message]:
    """Clock, power and temperature now, where nvidia-smi tells."""
    line = _smi(SMI)
    if line:
        yield dict(zip(SMI, line, strict=True))


def _smi(fields: Sequence[str]) -> list[str]:
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = [part.strip() for part in (done.stdout.splitlines() or [""])[0].split(",")]
    return found if len(found) == len(fields) else []


def conditions(commit: str) -> Message:
    """What the figures were taken on."""
    from importlib import metadata

    versions = {}
    for name in ("torch", "cuda-bindings"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "unknown"
    device, driver = _smi(("name", "driver_version")) or ["unknown", "unknown"]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit,
        "device": device,
        "driver": driver,
        **versions,
        "tsc": VERSION,
    }


def method(options: Options) -> str:
    """How the figures were taken, in a sentence."""
    return (
        "N(0, 1) inputs, sets rotated over 3.2 times the L2, CUDA graphs of 20 launches; settled: blocks of "
        f"150 ms in random order, the second half counted, {options.turns} turns or more, after "
        f"{options.load:g} s under load; burst: one graph after 0.4 s of rest, {options.bursts} turns; "
        "medians; ratio: time of torch over time of the kernel"
    )


def run(
    cases: Sequence[Case],
    worker: Worker,
    options: Options,
    out: Path,
    facts: Message,
    earlier: Path | None = None,
) -> Message:
    """Measure all cases that `out` lacks, or `earlier` where it is given, and keep `out` up to date."""
    before = out if earlier is None else earlier
    found: Message = json.loads(before.read_text(encoding="utf-8")) if before.is_file() else {}
    done = {case["name"]: case for case in found.get("cases", []) if case["rows"]}
    result = {"suite": "gemm", **facts, "method": method(options)}
    begin = options.now()
    left = [case for case in cases if case.name not in done]
    tuned = 0.0
    longest = 0.0
    for index, case in enumerate(left):
        started = options.now()
        if started - begin + longest > options.seconds:
            print(f"no time for {case.name} and what follows", file=sys.stderr)
            break
        share = max(0.0, options.tune_seconds - tuned) / (len(left) - index)
        measured = measure(case, worker, options, share)
        done[case.name] = measured
        seconds = options.now() - started
        tuned += min(share, seconds)
        longest = max(longest, seconds)
        result["cases"] = [done[name] for name in _order(cases, done)]
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = out.with_suffix(".part")
        beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        beside.replace(out)
        print(_line(measured, seconds), flush=True)
    result["cases"] = [done[name] for name in _order(cases, done)]
    return result


def _order(cases: Sequence[Case], done: Message) -> list[str]:
    return [case.name for case in cases if case.name in done]


def best_of(case: Message) -> Message | None:
    """The row of the fastest kernel of a case, by its settled ratio; None if there is none."""
    rows = [row for row in case["rows"] if "ratio" in row["settled"]]
    return max(rows, key=lambda row: float(row["settled"]["ratio"]), default=None)


def _line(case: Message, seconds: float) -> str:
    best = best_of(case)
    failed = "".join(f"\n    {one['name']}: {one['why']}" for one in case.get("failed", []))
    if best is None:
        return f"{case['case']:22} nothing measured{failed}"
    settled, burst = best["settled"], best["burst"]
    return (
        f"{case['case']:22} {best['name']:32} settled {settled['tflops']:7} x{settled['ratio']:.4f} "
        f"burst {burst['tflops']:7} x{burst['ratio']:.4f}  ({seconds:.1f} s){failed}"
    )


def main() -> None:
    """Read the call and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    times = Options()
    parser.add_argument("--cubins", type=Path, required=True)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--earlier", type=Path, help="results to go on from, by default those of --out")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--shape", action="append", help="a name of a case, repeatable; all by default")
    parser.add_argument("--seconds", type=float, default=times.seconds)
    parser.add_argument("--tune-seconds", type=float, default=times.tune_seconds)
    parser.add_argument("--finalists", type=int, default=times.finalists)
    parser.add_argument("--turns", type=int, default=times.turns)
    parser.add_argument("--bursts", type=int, default=times.bursts)
    parser.add_argument("--load", type=float, default=times.load, help="seconds under load before the race")
    parser.add_argument("--least", type=int, default=times.least, help="launches counted, at the least")
    given = parser.parse_args()
    options = Options(
        given.seconds, given.tune_seconds, given.finalists, given.turns, given.bursts, given.load, given.least
    )
    try:
        cases = cases_of(json.loads(given.plan.read_text(encoding="utf-8")), given.cubins)
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{given.plan}: {error}") from None
    if given.shape:
        unknown = {*given.shape} - {case.name for case in cases}
        if unknown:
            raise SystemExit(f"the plan has no case `{sorted(unknown)[0]}`")
        cases = [case for case in cases if case.name in given.shape]
    command = [sys.executable, str(Path(__file__).with_name("gemm_worker.py"))]
    with Worker(command) as worker:
        run(cases, worker, options, given.out, conditions(given.commit), given.earlier)


if __name__ == "__main__":
    main()
