"""`python -m tsc.bench.run KERNEL.cubin -D m=4096 --against cublas`: `tsc bench` where there is no compiler.

Reads the plan that `tsc verify --prepare` puts beside a cubin, if it is there: what the kernel computes, and
how its inputs are made.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tsc.bench.race import LOAD
from tsc.bench.report import text
from tsc.bench.watch import Lost, Message, Worker
from tsc.verify.plan import SUFFIX, Plan, to_json

FIRST_ANSWER = 180.0
"""Seconds that a new worker may take to load torch and set up CUDA."""


class BenchError(Exception):
    """Nothing was measured; the text is the sentence for the user."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long is measured: turns of each kind, seconds under load before, launches at the least."""

    turns: int = 8
    bursts: int = 5
    load: float = LOAD
    least: int = 0


QUICK = Length(turns=3, bursts=2, load=0.3)


def bench(
    cubin: Path,
    plan: str,
    case: dict[str, Any],
    against: Sequence[str],
    length: Length,
    *,
    silence: float = 30.0,
    command: Sequence[str] = (sys.executable, "-m", "tsc.bench.worker"),
    heard: Callable[[Message], None] = lambda message: None,
) -> dict[str, Any]:
    """The result of one race, run in a process of its own. Raises BenchError."""
    request = {
        "cubin": str(cubin),
        "plan": plan,
        "case": case,
        "against": list(against),
        **asdict(length),
    }
    with Worker(command, module_path()) as worker:
        for message in worker.ask(request, silence, FIRST_ANSWER):
            if isinstance(message, Lost):
                what = f" at `{message.at}`" if message.at else ""
                raise BenchError(f"the process that runs the kernels is lost{what}: {message.why}")
            heard(message)
            if "error" in message:
                raise BenchError(str(message["error"]))
            if "result" in message:
                result: dict[str, Any] = message["result"]
                return result
    raise BenchError("the process that runs the kernels gives no result")


def module_path() -> dict[str, str]:
    """The environment of a worker: it finds the same tsc, wherever it is started."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def case_of(defines: Sequence[str]) -> dict[str, Any]:
    """The sizes and numbers of `-D` options. Raises BenchError."""
    case: dict[str, Any] = {}
    for define in defines:
        name, sign, written = (part.strip() for part in define.partition("="))
        try:
            case[name] = int(written, 0) if not any(c in written for c in ".eE") else float(written)
        except ValueError:
            sign = ""
        if not sign or not name.isidentifier():
            raise BenchError(f"`-D {define}` has not the form `-D NAME=NUMBER`")
    return case


def plan_of(cubin: Path, plan: Path | None) -> str:
    """The plan that lies beside a cubin, or one that says nothing. Raises BenchError."""
    beside = plan or cubin.with_suffix(SUFFIX)
    if plan is None and not beside.is_file():
        return to_json(Plan(kernel="", spec=""))
    try:
        return beside.read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"`{beside}` cannot be read: {error.strerror}") from None


def options() -> argparse.ArgumentParser:
    """What a call may say."""
    parser = argparse.ArgumentParser(prog="python -m tsc.bench.run", description=__doc__)
    parser.add_argument("cubin", type=Path)
    parser.add_argument("-D", "--define", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--against", action="append", default=[], metavar="cublas|torch|memcpy|CUBIN")
    parser.add_argument("--plan", type=Path)
    parser.add_argument("--quick", action="store_true", help="a look of some seconds")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the call, measure, print; returns the exit code."""
    given = options().parse_args(arguments)
    try:
        case = case_of(given.define)
        length = QUICK if given.quick else Length()
        result = bench(given.cubin, plan_of(given.cubin, given.plan), case, given.against, length)
    except BenchError as error:
        print(f"tsc: {error}", file=sys.stderr)
        return 2
    sys.stdout.write(json.dumps(result, indent=2) + "\n" if given.format == "json" else text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
