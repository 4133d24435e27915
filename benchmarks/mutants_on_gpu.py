"""Runs the built mutants on the GPU at hand, each in a process of its own under a watchdog.

    python benchmarks/mutants_on_gpu.py --folder F --out F/runs.json

A mutant is launched over several sizes: none, one, ragged ones, many rounds of every ring; each launch with
other random data, so that nothing that an earlier launch left behind can pass for the right answer, and half
of them beside a stream that floods the memory, so that timing varies. A process without progress for
`--patience` seconds is killed: the mutant hangs. Whoever hung beside others runs again alone; with
`--again proved` only what the check has proved.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tsc
import tsc.runtime.load

POISON = 0xA5
GUARD_BYTES = 256
STARTING_SECONDS = 40.0
"""A process that makes its context beside others may take this long before its first launch."""

Launches = Iterator[tuple[str, Callable[[], None], Callable[[], int]]]
"""What is launched, the launch, and how many elements came out wrong."""


def random_bytes(count: int) -> torch.Tensor:
    """Return random bytes with a guard behind them."""
    return torch.randint(0, 256, (count + GUARD_BYTES,), dtype=torch.uint8, device="cuda")


def copies(
    kernel: Callable[..., None], dtype: torch.dtype, shapes: Mapping[tuple[int, ...], int]
) -> Launches:
    """Copies of each shape, as often as its number says."""
    for shape, times in shapes.items():
        count = torch.Size(shape).numel() * dtype.itemsize
        sources = [random_bytes(count) for _ in range(min(3, times))]
        target = torch.empty_like(sources[0])

        def seen(raw: torch.Tensor, shape: tuple[int, ...] = shape) -> torch.Tensor:
            return raw[:-GUARD_BYTES].view(dtype).view(shape)

        for i in range(times):
            source = sources[i % len(sources)]
            target.fill_(POISON)

            def launch(source: torch.Tensor = source, target: torch.Tensor = target) -> None:
                kernel(seen(source), seen(target))

            def wrong(source: torch.Tensor = source, target: torch.Tensor = target) -> int:
                body = int((source[:-GUARD_BYTES] != target[:-GUARD_BYTES]).sum())
                return body + int((target[-GUARD_BYTES:] != POISON).sum())

            yield f"{'x'.join(map(str, shape))} #{i}", launch, wrong


def norms(kernel: Callable[..., None], rows_of: dict[int, int], columns: int = 8192) -> Launches:
    """RMSNorms of so many rows, as often as the number says; each element within 1 % of the reference."""
    eps = 1e-6
    w = torch.randn(columns, device="cuda").bfloat16()
    for rows, times in rows_of.items():
        xs = [torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(min(3, times))]
        wanted = [torch.nn.functional.rms_norm(x.float(), (columns,), w.float(), eps) for x in xs]
        y = torch.empty_like(xs[0])
        for i in range(times):
            x, reference = xs[i % len(xs)], wanted[i % len(xs)]
            y.fill_(float("nan"))

            def launch(x: torch.Tensor = x, y: torch.Tensor = y) -> None:
                kernel(x, w, y, eps)

            def wrong(reference: torch.Tensor = reference, y: torch.Tensor = y) -> int:
                near = (y.float() - reference).abs() <= 1e-2 * reference.abs() + 1e-2
                return int((~near).sum())

            yield f"{rows} #{i}", launch, wrong


def launches(spec: str, kernel: Callable[..., None]) -> Launches:
    """Return the launches of a spec's mutants."""
    one: dict[tuple[int, ...], int] = {
        (0,): 1,
        (1,): 2,
        (15,): 1,
        (4096,): 2,
        (1_000_003,): 6,
        (9_437_184,): 9,
        (50_000_017,): 15,
    }
    two: dict[tuple[int, ...], int] = {(0, 8): 1, (1, 8): 2, (16, 256): 2, (40, 1016): 2, (1000, 1016): 6}
    two |= {(64, 16384): 9, (3000, 8200): 15}
    stacked = {(2, *shape): times for shape, times in two.items()}
    match spec:
        case "copy/tma" | "copy/cp_async":
            return copies(kernel, torch.bfloat16, two)
        case "copy/merge":
            return copies(lambda x, y: kernel(x[0], x[1], y), torch.bfloat16, stacked)
        case "copy/fork":
            return copies(lambda x, y: kernel(x, y[0], y[1]), torch.bfloat16, stacked)
        case "copy/bulk":
            return copies(kernel, torch.uint8, one)
        case "copy/grid_stride":
            return copies(kernel, torch.float32, one)
        case "norm/rmsnorm":
            return norms(kernel, {0: 1, 1: 2, 2: 1, 395: 2, 397: 5, 1000: 12, 4096: 15})
    raise SystemExit(f"nobody says how to launch {spec}")


def flood(stream: torch.cuda.Stream, buffers: list[torch.Tensor], memory: bool) -> None:
    """Keep the memory or the multiprocessors busy for about a millisecond, on another stream."""
    if not buffers:
        buffers += [torch.zeros(1 << 27, dtype=torch.uint8, device="cuda") for _ in range(2)]
        buffers += [torch.zeros(1 << 11, 1 << 11, dtype=torch.bfloat16, device="cuda") for _ in range(2)]
    with torch.cuda.stream(stream):
        for _ in range(12):
            if memory:
                buffers[0].copy_(buffers[1])
                torch.add(buffers[1], 1, out=buffers[0])
            else:
                torch.matmul(buffers[2], buffers[2], out=buffers[3])


def child(spec: str, cubin: Path, say: Callable[[str], None]) -> None:
    """Run one mutant; the last word is its outcome."""
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    side = torch.cuda.Stream()
    buffers: list[torch.Tensor] = []
    for i, (what, launch, wrong) in enumerate(launches(spec, tsc.load(cubin))):
        torch.cuda.synchronize()
        say(f"launch {what}")
        if i % 3:
            flood(side, buffers, memory=i % 3 == 1)
        launch()
        bad = wrong()
        torch.cuda.synchronize()
        if bad:
            say(f"end wrong|{what}: {bad:,} elements")
            return
    say("end right|")


@dataclass(slots=True)
class Running:
    """A process at work: `since` is when it last gave a sign of life, `at` what it launched last."""

    name: str
    pid: int
    pipe: int
    since: float
    at: str = ""
    rest: bytes = b""
    outcome: str = ""
    detail: str = ""
    began: float = field(default_factory=time.monotonic)


def start(name: str, spec: str, cubin: Path) -> Running:
    """Fork a process for one mutant; only it touches the GPU."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Running(name, pid, reading, time.monotonic())
    os.close(reading)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)

    def say(line: str) -> None:
        os.write(writing, line.encode() + b"\n")

    try:
        child(spec, cubin, say)
    except BaseException as error:
        sentence = (str(error).splitlines() or [""])[0]
        say(f"end launch error|{type(error).__name__}: {sentence[:200]}")
    os._exit(0)


def listen(running: Running, patience: float) -> bool:
    """Take in what a process says; true when it is over, by itself or by force."""
    ready, _, _ = select.select([running.pipe], [], [], 0.005)
    data = os.read(running.pipe, 65536) if ready else b""
    now = time.monotonic()
    if data:
        running.since = now
        *lines, running.rest = (running.rest + data).split(b"\n")
        for line in map(bytes.decode, lines):
            word, _, said = line.partition(" ")
            if word == "launch":
                running.at = said
            else:
                running.outcome, _, running.detail = said.partition("|")
    over = bool(running.outcome) or (bool(ready) and not data)
    allowed = patience if running.at else STARTING_SECONDS
    if not over and now - running.since < allowed:
        return False
    os.kill(running.pid, signal.SIGKILL)
    os.close(running.pipe)
    if not running.outcome:
        running.outcome = "launch error" if over else "hang" if running.at else "not started"
        running.detail = running.at if running.at else "the process died"
    elif running.outcome == "launch error":
        running.detail = f"{running.at}: {running.detail}" if running.at else running.detail
    return True


def pool(
    jobs: list[tuple[str, str, Path]], width: int, patience: float, deadline: float
) -> dict[str, dict[str, Any]]:
    """Run all jobs, `width` at a time, until the deadline."""
    waiting, done = list(reversed(jobs)), dict[str, dict[str, Any]]()
    running, dying = list[Running](), list[int]()
    while running or dying or (waiting and time.monotonic() < deadline):
        # A killed process is gone only when the driver has taken its kernel off the GPU.
        dying = [pid for pid in dying if os.waitpid(pid, os.WNOHANG)[0] == 0]
        while waiting and len(running) + len(dying) < width and time.monotonic() < deadline:
            running.append(start(*waiting.pop()))
        if not running:
            time.sleep(0.005)
        for process in list(running):
            if listen(process, patience):
                running.remove(process)
                dying.append(process.pid)
                seconds = round(time.monotonic() - process.began, 2)
                found = {"outcome": process.outcome, "detail": process.detail, "seconds": seconds}
                done[process.name] = found
                print(f"{process.name:24} {process.outcome:13} {seconds:6} s  {process.detail}", flush=True)
    return done


def conditions() -> dict[str, Any]:
    """Return where the mutants ran; a process of its own asks, since this one stays off the GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    said = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    name, _, driver = said.strip().partition(", ")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": name,
        "driver": driver,
        "torch": torch.__version__,
        "tsc": tsc.__version__,
    }


def main() -> None:
    """Run all mutants of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--width", type=int, default=6, help="how many run side by side")
    parser.add_argument("--patience", type=float, default=5.0, help="seconds without progress")
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop starting more")
    parser.add_argument("--first", type=int, help="only so many of each spec")
    parser.add_argument("--only", action="append", default=[], help="only mutants of these names")
    parser.add_argument("--again", choices=("all", "proved"), default="all", help="what runs again alone")
    options = parser.parse_args()
    begin = time.monotonic()
    cubins = options.folder / "cubins"
    jobs, controls = [], []
    seen: dict[str, int] = {}
    verdicts = json.loads((options.folder / "verdicts.json").read_text())
    listed = json.loads((options.folder / "mutants.json").read_text())
    for entry in sorted(listed, key=lambda entry: not verdicts[entry["name"]]["proved"]):
        name, spec = entry["name"], entry["spec"]
        seen[spec] = seen.get(spec, 0) + 1
        if (options.first and seen[spec] > options.first) or (options.only and name not in options.only):
            continue
        if (cubins / f"{name}.cubin").exists():
            jobs.append((name, spec, cubins / f"{name}.cubin"))
    for spec in sorted({spec for _, spec, _ in jobs}):
        controls.append((spec, cubins / f"{spec.replace('/', '_')}-shipped.cubin"))
    # The shipped kernels run amid the mutants, again and again: should a neighbour make them fail, it shows.
    for i in range(0, len(jobs) + len(jobs) // 12, 13):
        spec, cubin = controls[i // 13 % len(controls)]
        jobs.insert(i, (f"{spec.replace('/', '_')}-shipped-{i:03d}", spec, cubin))
    runs = pool(jobs, options.width, options.patience, begin + options.seconds)
    suspects = [job for job in jobs if runs.get(job[0], {}).get("outcome") in ("hang", "not started")]
    again = suspects
    if options.again == "proved":
        again = [job for job in suspects if "-shipped-" in job[0] or verdicts[job[0]]["proved"]]
    alone = pool(again, 1, options.patience, begin + options.seconds)
    for name, found in alone.items():
        runs[name] = {**found, "beside others": runs[name]["outcome"], "alone": True}
    method = (
        "some 38 launches over 7 sizes, other data each time, two of three beside a flood of memory traffic "
        f"or matrix products; {options.patience:g} s without progress is a hang"
    )
    facts = {**conditions(), "method": method, "hangs run again alone": len(alone), "hangs": len(suspects)}
    options.out.write_text(json.dumps({"conditions": facts, "runs": runs}, indent=1) + "\n")
    counts: dict[str, int] = {}
    for found in runs.values():
        counts[found["outcome"]] = counts.get(found["outcome"], 0) + 1
    print(f"{len(runs)} of {len(jobs)} in {time.monotonic() - begin:.0f} s: {counts}")


if __name__ == "__main__":
    main()
