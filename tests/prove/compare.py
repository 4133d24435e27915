"""Compares the proof with the explorer on random systems: `python -m tests.prove.compare --count 1000`.

Fixed: one run of the proof against every run of the hardware. Symbolic: the verdict for all answers against
the proof's own run at many answers, and the explorer at some of them and at every counterexample.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from random import Random

from tests.prove.explorer import WINDOWS, Outcome, explore
from tests.prove.oracles import Fixed, consistent, points
from tests.prove.systems import CLASSES, random_system
from tests.prove.unfenced import unfenced
from tsc.prove.machine import System
from tsc.prove.proof import check_run, prove
from tsc.prove.verdict import Alarm, Oracle, Verdict

BUDGET = 150
"""States that a symbolic proof may use."""

Count = Counter[str]


def look(system: System, oracle: Oracle) -> Outcome:
    """Return what the hardware may do, until a bit misleads, and what becomes of a missing fence: a race."""
    outcome = explore(system, oracle, stop_at_window=True)
    if outcome.too_big or outcome.window or not unfenced(system, oracle):
        return outcome
    return replace(outcome, kinds=outcome.kinds | {"race"})


def kinds_of(alarms: tuple[Alarm, ...]) -> frozenset[str]:
    """Return the kinds of alarms."""
    return frozenset(alarm.kind for alarm in alarms)


def disagree(outcome: Outcome, kinds: frozenset[str]) -> str:
    """Return what a run of the proof and the explorer see differently, or nothing."""
    if outcome.too_big:
        return ""
    if outcome.window != bool(kinds & WINDOWS):
        return f"window: explorer {sorted(outcome.kinds)}, proof {sorted(kinds)}"
    if outcome.window:
        return ""
    named = ["race", "deadlock"]
    if "race" not in outcome.kinds:
        named.append("unwritten")
        if "unwritten" not in outcome.kinds and not outcome.unordered:
            named.append("stale")
    if "deadlock" not in outcome.kinds:
        named.append("leftover")
    for kind in named:
        if (kind in outcome.kinds) != (kind in kinds):
            return f"{kind}: explorer {sorted(outcome.kinds)}, proof {sorted(kinds)}"
    return ""


def fixed_answers(system: System, seed: int) -> Iterator[Fixed]:
    """Yield the answers at which a system is compared with the explorer."""
    rng = Random(seed)
    yield Fixed(system, seed, rng.choice((1, 2, 2, 3, 4)), rng.choice((1, 2, 2, 3)))
    yield Fixed(system, seed + 1, most=4)


def compare_fixed(system: System, oracle: Oracle, count: Count) -> str:
    """Compare one run with the explorer; return the difference."""
    outcome = look(system, oracle)
    kinds = kinds_of(check_run(system, oracle))
    count["compared"] += 1
    count["explored"] += outcome.states
    if outcome.too_big:
        count["too big"] += 1
    elif outcome.window:
        count["window"] += 1
    elif not outcome.kinds:
        count["ok"] += 1
    else:
        count.update(outcome.kinds)
    return disagree(outcome, kinds)


def compare_symbolic(system: System, seed: int, count: Count, budget: int = BUDGET) -> str:
    """Compare the verdict for all answers with runs at many; return the difference."""
    verdict = prove(system, budget)
    count["symbolic"] += 1
    count[verdict.outcome] += 1
    count["proof states"] += verdict.states
    if verdict.outcome == "refuted":
        return _refuted(system, seed, verdict, count)
    bad = False
    for oracle in points(system, seed):
        count["points"] += 1
        kinds = kinds_of(check_run(system, oracle))
        if kinds == {"stale"} and look(system, oracle).unordered:
            continue  # what is found depends on the order, which is another one here than in the proof
        if kinds and verdict.outcome != "unproven" and within(system, oracle, verdict.up_to):
            return f"{verdict.outcome}, but a run has {sorted(kinds)} at {_told(oracle)}"
        bad = bad or bool(kinds)
    if verdict.outcome == "unproven":
        count["unproven, no run bad"] += not bad
        return ""
    for oracle in fixed_answers(system, seed):
        outcome = look(system, oracle)
        count["explorer points"] += 1
        if outcome.kinds == {"stale"} and outcome.unordered:
            continue
        if outcome.kinds and within(system, oracle, verdict.up_to):
            return f"{verdict.outcome}, but the explorer has {sorted(outcome.kinds)} at {_told(oracle)}"
    return ""


def within(system: System, oracle: Fixed, up_to: int | None) -> bool:
    """Whether the numbers that all tiles share are at most `up_to`."""
    shared = [i for i, number in enumerate(system.numbers) if number.depth == 0 and number.name != "tiles"]
    return up_to is None or all(oracle.number(number, ()) <= up_to for number in shared)


def _refuted(system: System, seed: int, verdict: Verdict, count: Count) -> str:
    if not verdict.alarms:
        return "refuted without an alarm"
    for alarm in verdict.alarms:
        if not consistent(system, alarm.trail):
            count["unconfirmed"] += 1
            continue
        oracle = Fixed(system, seed, trips=0, tiles=0, trail=alarm.trail)
        kinds = kinds_of(check_run(system, oracle))
        count["replayed"] += 1
        outcome = look(system, oracle)
        # What a read finds depends on the run where accesses race.
        chance = alarm.kind in ("unwritten", "stale") and ("race" in kinds or outcome.unordered)
        if alarm.kind not in kinds and not kinds & WINDOWS and not chance:
            return f"{alarm.kind} does not replay: {sorted(kinds)} at {_told(oracle)}"
        count["explorer points"] += 1
        if not outcome.kinds and not outcome.too_big:
            return f"{alarm.kind}, but the explorer sees nothing at {_told(oracle)}"
        difference = disagree(outcome, kinds)
        if difference:
            return f"at a counterexample, {difference} at {_told(oracle)}"
    return ""


def _told(oracle: Fixed) -> str:
    names = (field.name for field in fields(oracle) if field.name != "system")
    return ", ".join(f"{name}={getattr(oracle, name)!r}" for name in names)


def compare(name: str, seed: int, symbolic: bool, count: Count) -> str:
    """Compare the system of a class and seed; return the first difference."""
    system = random_system(name, seed)
    try:
        if symbolic:
            return compare_symbolic(system, seed, count)
        for oracle in fixed_answers(system, seed):
            difference = compare_fixed(system, oracle, count)
            if difference:
                return f"{difference} at {_told(oracle)}"
    except Exception as error:
        return f"crash: {type(error).__name__}: {error}"
    return ""


def _chunk(name: str, seeds: range, symbolic: bool) -> tuple[str, Count, list[tuple[int, str]]]:
    count: Count = Counter()
    differences = []
    for seed in seeds:
        difference = compare(name, seed, symbolic, count)
        if difference:
            differences.append((seed, difference))
    count["differ"] = len(differences)
    return name, count, differences


FIXED = (
    "compared",
    "ok",
    "window",
    "deadlock",
    "race",
    "unwritten",
    "stale",
    "leftover",
    "too big",
    "differ",
)
SYMBOLIC = (
    "symbolic",
    "proved",
    "bounded",
    "refuted",
    "unproven",
    "unproven, no run bad",
    "points",
    "replayed",
    "unconfirmed",
    "explorer points",
    "differ",
)


def table(counts: dict[str, Count], columns: tuple[str, ...]) -> str:
    """Return the figures of each class as text."""
    total: Count = Counter()
    for count in counts.values():
        total.update(count)
    rows = [["class", *columns]]
    for name, count in {**counts, "all": total}.items():
        rows.append([name, *(f"{count[column]:,}" for column in columns)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)


def main() -> int:
    """Compare as the command line says; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="systems a class")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--class", dest="classes", action="append", choices=CLASSES, help="all by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--symbolic", action="store_true", help="all answers instead of fixed ones")
    parser.add_argument("--json", type=Path, help="where the figures go")
    arguments = parser.parse_args()
    begun = time.time()
    counts: dict[str, Count] = {name: Counter() for name in arguments.classes or CLASSES}
    last = arguments.seed + arguments.count
    chunks = [
        (name, range(first, min(first + 100, last)), arguments.symbolic)
        for first in range(arguments.seed, last, 100)
        for name in counts
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name, count, differences in pool.map(_chunk, *zip(*chunks, strict=True)):
            counts[name].update(count)
            for seed, difference in differences:
                print(f"{name} {seed}: {difference}", flush=True)
    seconds = time.time() - begun
    print(table(counts, SYMBOLIC if arguments.symbolic else FIXED))
    print(f"{seconds:.0f} s")
    if arguments.json:
        kept = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
        kept["symbolic" if arguments.symbolic else "fixed"] = _record(arguments, counts, seconds)
        arguments.json.write_text(json.dumps(kept, indent=1) + "\n")
    return int(any(count["differ"] for count in counts.values()))


def _record(arguments: argparse.Namespace, counts: dict[str, Count], seconds: float) -> dict[str, object]:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit.strip(),
        "python": platform.python_version(),
        "first_seed": arguments.seed,
        "systems_a_class": arguments.count,
        "classes": {name: dict(sorted(count.items())) for name, count in counts.items()},
        "seconds": round(seconds),
    }


if __name__ == "__main__":
    sys.exit(main())
