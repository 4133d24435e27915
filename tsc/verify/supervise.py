"""Runs a cubin's cases in a process of their own, which may crash or hang without taking the rest along."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from tsc.verify.plan import Case
from tsc.verify.results import CaseResult, Results, read_plain

START_SECONDS: Final = 300.0
"""Until the first line: libraries are imported and the code is loaded."""
MOST_LOST: Final = 3
"""Processes that may end before their time; what a fourth would run is left out."""


@dataclass(slots=True)
class _Found:
    """What the processes of a cubin have said so far."""

    results: list[CaseResult] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    cases: list[tuple[int, Case]] = field(default_factory=list)
    error: str = ""
    code: int = 0
    under_way: int | None = None


def supervise(
    cubin: Path,
    plan: Path,
    *,
    kernel: str,
    spec: str,
    choices: Sequence[str] = (),
    seed: int = 0,
    timeout: float = 120.0,
    command: Sequence[str] | None = None,
) -> tuple[Results, int]:
    """All results of a cubin, and the exit code that an `error` asks for; `timeout` is seconds a case.

    `command` stands for the worker, which is called with further options.
    """
    worker = list(command or (sys.executable, "-m", "tsc.verify.run"))
    options = ["--cubin", str(cubin), "--plan", str(plan), "--seed", str(seed), "--lines"]
    options += [word for choice in choices for word in ("--case", choice)]
    found = _Found()
    for _ in range(MOST_LOST + 1):
        ended = _one([*worker, *options, "--skip", str(len(found.results))], found, timeout)
        if found.error or (found.cases and len(found.results) == len(found.cases)):
            break
        if found.under_way is None and (not found.results or found.results[-1].verdict != "fault"):
            found.error, found.code = f"the process that runs the kernel ended{ended}", 3
            break
        if found.under_way is not None:
            case = dict(found.cases[len(found.results)][1])
            verdict = "hang" if ended.startswith(" after") else "fault"
            sentence = f"the process that ran it ended{ended}"
            found.results.append(CaseResult(found.under_way, case, verdict, faults=(sentence,)))
            if len(found.results) == len(found.cases):
                break
    else:
        found.error, found.code = f"{MOST_LOST + 1} cases ended their process; the rest is not run", 1
    wanted: tuple[str, ...] = ("arch", "library", "constants")
    facts = {name: found.facts[name] for name in wanted if name in found.facts}
    return (
        Results(
            kernel=found.facts.get("kernel", kernel),
            spec=spec,
            cubin=str(cubin),
            cases=tuple(found.results),
            device=found.facts.get("device", ""),
            error=found.error,
            facts=facts,
        ),
        found.code,
    )


def _one(command: list[str], found: _Found, timeout: float) -> str:
    """Run one process to its end; says how it ended."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    found.under_way = None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, text=True, env=env, encoding="utf-8"
        )
        try:
            for line in _lines(process.stdout, found, timeout):
                _take(line, found)
            process.wait(timeout=30)
        except TimeoutError as error:
            return str(error)
        except subprocess.TimeoutExpired:
            return " after its last answer, and had to be stopped"
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        complaints.seek(0)
        last = (complaints.read().strip().splitlines() or [""])[-1]
    return f" with code {process.returncode}" + (f": {last}" if last else "")


def _lines(stream: IO[str] | None, found: _Found, timeout: float) -> Iterator[str]:
    """The lines of a process. Raises TimeoutError where the next one takes too long."""
    if stream is None:
        return
    lines: queue.Queue[str | None] = queue.Queue()

    def read(source: IO[str]) -> None:
        with source:
            for line in source:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, args=(stream,), daemon=True).start()
    while True:
        patience = timeout if found.cases else max(timeout, START_SECONDS)
        try:
            line = lines.get(timeout=patience)
        except queue.Empty:
            raise TimeoutError(f" after {patience:g} s without an answer: it was stopped") from None
        if line is None:
            return
        yield line


def _take(line: str, found: _Found) -> None:
    """Keep what a line says; what is no JSON is a print of somebody's and is passed over."""
    try:
        said = json.loads(line)
    except ValueError:
        return
    if not isinstance(said, dict):
        return
    if "error" in said:
        found.error, found.code = said["error"], said["code"]
    elif "device" in said:
        found.facts = said
        found.cases = [(number, case) for number, case in said["cases"]]
    elif "begin" in said:
        found.under_way = said["begin"]
    elif "result" in said:
        found.results.append(read_plain(said["result"]))
        found.under_way = None
