"""Runs the built mutants of the GEMMs on the GPU at hand, in watched processes that live until one fails.

    python benchmarks/mutants_gemm_on_gpu.py --folder F --out F/runs.json

Operands are small integers, so that every element of a right result is known to the bit; outputs are
poisoned, no two launches in a row have the same operands, and two of three run beside a stream that floods
the memory or the tensor cores. A wait that never ends traps, any other hang is killed after `--patience`
seconds, and a new process goes on with the next mutant. What was proved and fails runs again alone.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tsc
import tsc.runtime.load
from benchmarks.mutants_on_gpu import conditions

SHAPES: tuple[tuple[int, int, int, int], ...] = (
    (1, 8, 8, 1),
    (128, 96, 64, 2),
    (100, 104, 0, 2),
    (129, 200, 72, 2),
    (384, 200, 128, 2),
    (256, 192, 192, 2),
    (256, 192, 256, 2),
    (300, 392, 328, 2),
    (4096, 3072, 0, 1),
    (4096, 3072, 64, 3),
    (4096, 3072, 128, 3),
    (3000, 3080, 328, 4),
    (2048, 2056, 704, 4),
    (300, 392, 2600, 2),
)
"""m, n, k and how many launches: no block of k to eleven, one tile to eight a CTA, whole and ragged. The last
is for kernels that share out k: eleven blocks of it for each of four CTAs."""
DEVICE = "cuda"
LARGEST = 3
"""Of an operand's elements: a sum of 2,600 products stays exact in float32."""
SETS = 3
GUARD = 4096
"""Elements behind an output, which nobody may write."""
STARTING_SECONDS = 60.0
"""A process that makes its context beside others may take this long before its first launch."""
TRAPPED_SECONDS = 1.0
"""A launch that fails after so long waited in vain."""


@dataclass(frozen=True, slots=True)
class Operands:
    """One problem: operands and the only right result."""

    a: torch.Tensor
    b: torch.Tensor
    d: torch.Tensor


class Problems:
    """All problems, made once a process."""

    def __init__(self) -> None:
        """Make operands of every shape."""
        torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
        torch.backends.cuda.matmul.allow_tf32 = False
        self.of = {(m, n, k): [self._made(m, n, k) for _ in range(SETS)] for m, n, k, _ in SHAPES}
        self.side = torch.cuda.Stream()
        self.bytes = [torch.zeros(1 << 26, dtype=torch.uint8, device=DEVICE) for _ in range(2)]
        self.squares = [torch.zeros(1 << 11, 1 << 11, dtype=torch.bfloat16, device=DEVICE) for _ in range(2)]

    @staticmethod
    def _made(m: int, n: int, k: int) -> Operands:
        def some(rows: int) -> torch.Tensor:
            # Where k is 0 rows have a pitch all the same.
            wide = torch.randint(-LARGEST, LARGEST + 1, (rows, max(k, 8)), device=DEVICE).bfloat16()
            return wide[:, :k]

        a, b = some(m), some(n)
        return Operands(a, b, (a.float() @ b.float().T).bfloat16())

    def launches(self, kernel: Any) -> Iterator[tuple[str, Callable[[], None], Callable[[], int]]]:
        """Yield what is launched, the launch, and how many elements came out wrong."""
        number = 0
        for m, n, k, times in SHAPES:
            flat = torch.empty(m * n + GUARD, dtype=torch.bfloat16, device=DEVICE)
            for _ in range(times):
                one, number = self.of[m, n, k][number % SETS], number + 1
                flat.fill_(float("nan"))
                launch = partial(kernel, a=one.a, b=one.b, d=flat[: m * n].view(m, n))
                yield f"{m}x{n}x{k} #{number}", launch, partial(self.wrong, one, flat)

    @staticmethod
    def wrong(one: Operands, flat: torch.Tensor) -> int:
        """Return how many elements of an output, or of what lies behind it, are not as they should be."""
        body = (flat[:-GUARD].view_as(one.d) != one.d).sum()
        return int(body + (~flat[-GUARD:].isnan()).sum())

    def flood(self, memory: bool) -> None:
        """Keep the memory or the multiprocessors busy for a third of a millisecond, on another stream."""
        with torch.cuda.stream(self.side):
            for _ in range(6):
                if memory:
                    self.bytes[0].copy_(self.bytes[1])
                else:
                    torch.matmul(self.squares[0], self.squares[0], out=self.squares[1])


def attempt(problems: Problems, cubins: list[str], say: Callable[[str], None]) -> bool:
    """Run one mutant, as it is and slowed; false where this process can do no more."""
    at, began = "", time.monotonic()
    try:
        for cubin in cubins:
            note = "slowed " if cubin.endswith("-slow.cubin") else ""
            for i, (what, launch, wrong) in enumerate(problems.launches(tsc.load(cubin))):
                at = note + what
                torch.cuda.synchronize()
                began = time.monotonic()
                say(f"launch {at}")
                if i % 3:
                    problems.flood(memory=i % 3 == 1)
                launch()
                torch.cuda.synchronize()
                bad = wrong()
                if bad:
                    say(f"end wrong|{at}: {bad:,} elements")
                    return True
    except Exception as error:
        waited = time.monotonic() - began
        sentence = (str(error).splitlines() or [""])[0][:200]
        hung = at and waited > TRAPPED_SECONDS
        say(f"end {'hang' if hung else 'launch error'}|{at}: {type(error).__name__}: {sentence}")
        return False
    say("end right|")
    return True


def work(reading: int, writing: int) -> None:
    """Run mutants, a line of JSON each, until there are no more or one breaks the process."""

    def say(line: str) -> None:
        os.write(writing, line.encode() + b"\n")

    problems = Problems()
    torch.cuda.synchronize()
    say("ready ")
    with os.fdopen(reading) as lines:
        for line in lines:
            if not attempt(problems, json.loads(line), say):
                return


@dataclass(slots=True)
class Worker:
    """A process at work: `since` is when it last gave a sign of life, `at` what it launched last."""

    pid: int
    orders: int
    answers: int
    since: float = field(default_factory=time.monotonic)
    began: float = 0.0
    ready: bool = False
    name: str = ""
    at: str = ""
    rest: bytes = b""

    def give(self, name: str, cubins: list[str]) -> None:
        """Hand it a mutant."""
        self.name, self.at = name, ""
        self.since = self.began = time.monotonic()
        os.write(self.orders, json.dumps(cubins).encode() + b"\n")

    def end(self) -> None:
        """Kill it."""
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.orders)
        os.close(self.answers)


def start(others: list[Worker]) -> Worker:
    """Fork a worker; only it touches the GPU."""
    orders, giving = os.pipe()
    hearing, answers = os.pipe()
    pid = os.fork()
    if pid:
        os.close(orders)
        os.close(answers)
        return Worker(pid, giving, hearing)
    for fd in (giving, hearing, *(fd for worker in others for fd in (worker.orders, worker.answers))):
        os.close(fd)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        work(orders, answers)
    except BaseException as error:
        os.write(answers, f"end not started|{type(error).__name__}: {error}".splitlines()[0].encode() + b"\n")
    os._exit(0)


def listen(worker: Worker, patience: float) -> tuple[str, str, bool] | None:
    """Take in what a worker says; its mutant's outcome and detail once there is one, and whether it lives."""
    ready, _, _ = select.select([worker.answers], [], [], 0)
    data = os.read(worker.answers, 65536) if ready else b""
    now = time.monotonic()
    if data:
        worker.since = now
        *lines, worker.rest = (worker.rest + data).split(b"\n")
        for line in map(bytes.decode, lines):
            word, _, said = line.partition(" ")
            if word == "launch":
                worker.at = said
            elif word == "ready":
                worker.ready = True
            else:
                outcome, _, detail = said.partition("|")
                return outcome, detail, outcome in ("right", "wrong")
    if ready and not data:
        return "launch error", f"{worker.at}: the process died", False
    if (worker.name or not worker.ready) and now - worker.since > (
        patience if worker.at else STARTING_SECONDS
    ):
        return ("hang" if worker.at else "not started"), f"{worker.at}: killed", False
    return None


def pool(jobs: list[tuple[str, list[str]]], width: int, patience: float, deadline: float) -> dict[str, Any]:
    """Run all jobs on `width` workers, until the deadline."""
    waiting, workers, done = deque(jobs), list[Worker](), dict[str, Any]()
    dying: list[int] = []
    while (waiting or any(worker.name for worker in workers)) and time.monotonic() < deadline + 10:
        # A killed process is gone only when the driver has taken its kernel off the GPU.
        dying = [pid for pid in dying if os.waitpid(pid, os.WNOHANG)[0] == 0]
        while len(workers) < width and len(workers) < len(waiting) + 1:
            workers.append(start(workers))
        select.select([worker.answers for worker in workers], [], [], 0.05)
        for worker in list(workers):
            answer = listen(worker, patience)
            if answer is not None:
                outcome, detail, lives = answer
                seconds = round(time.monotonic() - worker.began, 2) if worker.name else 0.0
                if worker.name:
                    done[worker.name] = {"outcome": outcome, "detail": detail, "seconds": seconds}
                print(f"{worker.name:28} {outcome:13} {seconds:6} s  {detail}", flush=True)
                worker.name = ""
                if not lives:
                    worker.end()
                    workers.remove(worker)
                    dying.append(worker.pid)
            if (
                worker in workers
                and worker.ready
                and not worker.name
                and waiting
                and time.monotonic() < deadline
            ):
                worker.give(*waiting.popleft())
        if time.monotonic() > deadline:
            waiting.clear()
    for worker in workers:
        worker.end()
        dying.append(worker.pid)
    end = time.monotonic() + patience
    while dying and time.monotonic() < end:
        dying = [pid for pid in dying if os.waitpid(pid, os.WNOHANG)[0] == 0]
        time.sleep(0.01)
    return done


def ordered(folder: Path) -> list[tuple[str, list[str]]]:
    """Return the jobs: those that were proved first, and everywhere the unchanged kernels among them."""

    def job(name: str, shown: str = "") -> tuple[str, list[str]]:
        stems = (folder / "cubins" / f"{name}{end}.cubin" for end in ("", "-slow"))
        return shown or name, [str(cubin) for cubin in stems if cubin.exists()]

    listed = json.loads((folder / "mutants.json").read_text())["mutants"]
    made = sorted(listed, key=lambda entry: not entry["proved"])
    jobs = [(name, cubins) for name, cubins in (job(entry["name"]) for entry in made) if cubins]
    shipped = sorted(path.stem for path in (folder / "cubins").glob("*-shipped.cubin"))
    for place, i in enumerate(range(0, len(jobs) + len(jobs) // 12, 13)):
        name = shipped[place % len(shipped)]
        jobs.insert(i, job(name, f"{name}-{i:03d}"))
    return jobs


def main() -> None:
    """Run all mutants of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--width", type=int, default=8, help="how many processes run side by side")
    parser.add_argument("--patience", type=float, default=5.0, help="seconds without progress")
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop starting more")
    parser.add_argument("--only", action="append", default=[], help="only mutants of these names")
    options = parser.parse_args()
    begin = time.monotonic()
    deadline = begin + options.seconds
    jobs = [job for job in ordered(options.folder) if not options.only or job[0] in options.only]
    listed = json.loads((options.folder / "mutants.json").read_text())["mutants"]
    proved = {entry["name"] for entry in listed if entry["proved"]}
    runs = pool(jobs, options.width, options.patience, deadline)
    suspects = [
        job
        for job in jobs
        if runs.get(job[0], {}).get("outcome", "right") != "right"
        and (job[0] in proved or "-shipped" in job[0])
    ]
    alone = pool(suspects, 1, options.patience, deadline + 30)
    for name, found in alone.items():
        runs[name] = {**found, "beside others": runs[name]["outcome"], "alone": True}
    launches = sum(times for *_, times in SHAPES)
    method = (
        f"{launches} launches over {len(SHAPES)} shapes, of what was proved as many more with warps that "
        "sleep at random, operands of small integers and every element compared exactly, two of three "
        "launches beside a flood of memory traffic or matrix products; a wait of 1.5 s, or "
        f"{options.patience:g} s without progress, is a hang"
    )
    facts = {
        **conditions(),
        "method": method,
        "processes": options.width,
        "seconds": round(time.monotonic() - begin, 1),
        "ran again alone": sorted(alone),
        "left out for want of time": [name for name, _ in jobs if name not in runs],
    }
    options.out.write_text(json.dumps({"conditions": facts, "runs": runs}, indent=1) + "\n")
    counts = Counter(found["outcome"] for found in runs.values())
    print(f"{len(runs)} of {len(jobs)} in {time.monotonic() - begin:.0f} s: {dict(counts)}")
    for name in sorted(
        name for name, found in runs.items() if name in proved and found["outcome"] != "right"
    ):
        print(f"proved and failed: {name}: {runs[name]}")


if __name__ == "__main__":
    main()
