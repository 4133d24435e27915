"""Runs on a GPU what `benchmarks/gpu_tests.py make` has built: the tests, memcheck and racecheck.

Each test file, and each kernel under a sanitizer, has a process of its own with a time limit. After
`--seconds` no more are started, and what is left over counts as not finished; `--part` runs a part alone, and
adds to what the file has of the same commit: under a sanitizer only what did not finish there. So all fits
into calls that may not take long.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]

ASKING = (
    "tests/specs/test_gemm_on_gpu.py",
    "tests/specs/test_queues_on_gpu.py",
    "tests/specs/test_on_gpu.py",
    "tests/specs/test_groups_on_gpu.py",
    "tests/emit/test_on_gpu.py",
    "tests/cases/test_on_gpu.py",
    "tests/runtime/test_gpu_loader.py",
)
"""Test files whose cubins are built before; the longest first."""
COMPILING = (
    "tests/codegen/test_conversions_on_gpu.py",
    "tests/codegen/test_views_on_gpu.py",
    "tests/codegen/test_tma_on_gpu.py",
    "tests/codegen/test_activations.py",
)
"""Those that need NVRTC beside the GPU, and nothing else of the compiler."""
NOT_RUN = {
    "tests/bench/test_on_gpu.py": "needs the compiler beside the GPU",
    "tests/docs/test_running.py": "needs the compiler beside the GPU",
    "tests/house/test_readme.py": "needs the compiler beside the GPU",
    "tests/tiles/test_on_gpu.py": "needs the compiler beside the GPU",
    "tests/verify/test_on_gpu.py": "needs the compiler beside the GPU",
}

PARTS = ("tests", "memcheck", "racecheck")
SUMMARY = {
    "memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
    "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazard"),
}
Row = dict[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `run` takes."""
    parser.add_argument("--out", type=Path, default=Path("gpu_tests.json"))
    parser.add_argument("--width", type=int, default=8, help="how many processes run side by side")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; repeatable")
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop starting more")
    parser.add_argument("--limit", type=float, default=120, help="seconds a kernel has under a sanitizer")
    parser.add_argument("--test-limit", type=float, default=400, help="seconds a test file has")


def environment(folder: Path) -> dict[str, str]:
    """Return what the processes are run with."""
    ours = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return os.environ | ours | {"TSC_CUBINS": str(folder), "TSC_REQUIRE_GPU": "1"}


def spoken(command: list[str], env: dict[str, str], limit: float) -> tuple[str, str]:
    """Run a process; return all that it says, and why it did not finish."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(timeout=limit)
            why = ""
        except subprocess.TimeoutExpired:
            why = f"more than {limit:.0f} s"
            # The sanitizer starts the program as a child, which has to go as well.
            os.killpg(process.pid, 9)
            process.wait()
        said.seek(0)
        return said.read(), why


def test_file(file: str, folder: Path, limit: float) -> Row:
    """Run a file of tests; return what passed, failed and was skipped."""
    options = ["-q", "-m", "gpu", "-p", "no:cacheprovider", "--tb=short"]
    with tempfile.TemporaryDirectory() as place:
        report = Path(place, "report.xml")
        command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", file]
        said, why = spoken(command, environment(folder), limit)
        row: Row = {"passed": 0, "failed": [], "skipped": {}}
        if why or not report.exists():
            last = (said.strip().splitlines() or ["nothing said"])[-1]
            return {**row, "failed": [f"the file did not finish: {why or last}"]}
        for case in ElementTree.parse(report).iter("testcase"):
            name = case.get("name") or file
            wrong = [it for kind in ("failure", "error") for it in case.findall(kind)]
            skips = case.findall("skipped")
            if wrong:
                row["failed"].append(f"{name}: {(wrong[0].get('message') or '').strip()[:300]}")
            elif skips:
                row["skipped"][name] = reason(skips[0])
            else:
                row["passed"] += 1
    if not row["passed"] and not row["failed"] and not row["skipped"]:
        row["failed"].append("no test was found")
    return row


def reason(skip: ElementTree.Element) -> str:
    """Return why a test, or a module with all of its tests, was skipped."""
    message = skip.get("message") or ""
    if message == "collection skipped" and skip.text:
        message = skip.text.rpartition("Skipped: ")[2].rstrip("')")
    return message


def sanitizer() -> str:
    """Return the path of compute-sanitizer."""
    found = shutil.which("compute-sanitizer")
    places = sorted(Path("/usr/local").glob("cuda*/bin/compute-sanitizer"))
    if found is None and not places:
        raise SystemExit("there is no compute-sanitizer, neither in PATH nor in /usr/local/cuda*/bin")
    return found or str(places[-1])


def sanitized(tool: str, cubin: Path, folder: Path, limit: float) -> Row:
    """Run a kernel under a tool; return what was counted, and what was said of it."""
    command = [sanitizer(), "--tool", tool, sys.executable, "-W", "ignore"]
    command += ["-m", "benchmarks.gpu_tests_sanitize", str(cubin)]
    # Each tensor is an allocation of its own, so that memcheck sees what is read beside it.
    env = environment(folder) | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    began = time.monotonic()
    said, why = spoken(command, env, limit)
    row = judged(tool, said, why)
    return {**row, "seconds": round(time.monotonic() - began, 1)}


def judged(tool: str, said: str, why: str) -> Row:
    """Return what a tool and the kernel's comparison have said."""
    lines = said.splitlines()
    counts = SUMMARY[tool].findall(said)
    verdicts = [line for line in lines if line.startswith(("RIGHT", "WRONG "))]
    if why or not counts or not verdicts:
        spoken_last = (line for line in reversed(lines) if line and not line.startswith("====="))
        last = next(spoken_last, "nothing said")
        return {"found": int(counts[-1]) if counts else None, "unfinished": why or last[:300]}
    row: Row = {"found": int(counts[-1]), "right": verdicts[-1] == "RIGHT"}
    if not row["right"]:
        row["wrong"] = verdicts[-1][6:]
    if row["found"]:
        marks = ("Invalid", "Error:", "Warning:", "Race", "Program hit")
        row["said"] = [line.strip("= ")[:300] for line in lines if any(it in line for it in marks)][:5]
    return row


def side_by_side(
    names: Iterable[str], width: int, deadline: float, work: Callable[[str], Row], late: Row
) -> dict[str, Row]:
    """Do all, so many at a time, until the deadline; what is then left is `late`."""

    def one(name: str) -> Row:
        row = dict(late) if time.monotonic() > deadline else work(name)
        print(f"{name}: {json.dumps(row)[:400]}", flush=True)
        return row

    wanted = list(names)
    with ThreadPoolExecutor(width) as pool:
        return dict(zip(wanted, pool.map(one, wanted), strict=True))


def version_of(package: str) -> str:
    """Return a package's version, empty where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def conditions(folder: Path) -> Row:
    """Return where and with what all was run."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    said = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    name, _, driver = (said.strip().splitlines() or [""])[0].partition(", ")
    from tsc.version import VERSION

    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": name,
        "driver": driver,
        "torch": version_of("torch"),
        "cuda-bindings": version_of("cuda-bindings"),
        "tsc": VERSION,
        "commit": (folder / "commit").read_text().strip(),
    }


def failures(result: Row) -> list[str]:
    """Return all that failed: tests, results under a sanitizer, and what the sanitizers found."""
    found = [f"{file}: {name}" for file, row in result.get("tests", {}).items() for name in row["failed"]]
    for tool in PARTS[1:]:
        for name, row in result.get(tool, {}).items():
            if row["found"]:
                found.append(f"{tool} {name}: {row['found']} found")
            if row.get("right") is False:
                found.append(f"{tool} {name}: {row['wrong']}")
    return found


def unfinished(result: Row) -> list[str]:
    """Return what no sanitizer has judged to its end."""
    return [
        f"{tool} {name}: {row['unfinished']}"
        for tool in PARTS[1:]
        for name, row in result.get(tool, {}).items()
        if "unfinished" in row
    ]


def summary(result: Row) -> str:
    """Return a few lines on a result."""
    lines = []
    if tests := result.get("tests"):
        passed = sum(row["passed"] for row in tests.values())
        skipped = sum(len(row["skipped"]) for row in tests.values())
        lines.append(f"tests: {passed} passed, {skipped} skipped in {len(tests)} files")
    for tool in PARTS[1:]:
        if rows := result.get(tool):
            over = [row for row in rows.values() if "unfinished" not in row]
            count = sum(row["found"] for row in over)
            lines.append(f"{tool}: {count} found in {len(over)} of {len(rows)} kernels")
    lines += [f"unfinished: {line}" for line in unfinished(result)]
    lines += [f"FAILED {line}" for line in failures(result)]
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Run the parts, write the result, and return 1 where something failed."""
    folder, deadline = options.folder, time.monotonic() + options.seconds
    result: Row = conditions(folder)
    if options.part and options.out.exists():
        before = json.loads(options.out.read_text())
        if before["commit"] == result["commit"]:
            result |= {part: before[part] for part in (*PARTS, "not run") if part in before}
    parts = options.part or PARTS
    if "tests" in parts:
        late: Row = {"passed": 0, "failed": ["not started"], "skipped": {}}
        result["tests"] = side_by_side(
            (*ASKING, *COMPILING),
            options.width,
            deadline,
            lambda file: test_file(file, folder, options.test_limit),
            late,
        )
        result["not run"] = NOT_RUN
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    cubins = {
        path.relative_to(folder / "sanitize").with_suffix("").as_posix(): path
        for path in sorted(
            (folder / "sanitize").rglob("*.cubin"), key=lambda it: it.parent.name, reverse=True
        )
    }

    def under(tool: str) -> Callable[[str], Row]:
        return lambda name: sanitized(tool, cubins[name], folder, options.limit)

    for tool in [part for part in PARTS[1:] if part in parts]:
        over = {name: row for name, row in result.get(tool, {}).items() if "unfinished" not in row}
        result[tool] = over | side_by_side(
            [name for name in cubins if name not in over],
            options.width,
            deadline,
            under(tool),
            {"found": None, "unfinished": "not started"},
        )
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(summary(result))
    return int(bool(failures(result)))
