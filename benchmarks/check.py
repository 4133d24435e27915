"""Times the check of schedules: states, time, memory and verdict, for one verdict on all trip counts.

    python benchmarks/check.py                # the usual schedules, then growing ones
    python benchmarks/check.py --explosive    # those made to explode, which end within the budget

`proof` is the proof alone, `translate` what makes the system that it runs, `check` the whole way from the
text, the reading and all rules included: processor time, the best of five. Where the package
`nvidia-cutlass-dsl` is installed, its checks of the same patterns are timed beside ours; a trip count is a
number there.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import math
import platform
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import schedules
from benchmarks.schedules import Schedule
from tsc.check import Proof, check_reading
from tsc.diagnostics.model import Severity
from tsc.program.resolve import resolve
from tsc.prove.judge import BUDGET
from tsc.prove.proof import prove
from tsc.prove.translate import translate
from tsc.source import parse
from tsc.spec.load import to_spec
from tsc.spec.overrides import parse_overrides

TIMES = 5
PEER = "cutlass"


@dataclass(frozen=True, slots=True)
class Row:
    """What one schedule took. Times in milliseconds, memory in MB, the most during translation and proof."""

    title: str
    series: str
    size: int
    agents: int
    states: int
    steps: int
    verdict: str
    translate_ms: float
    proof_ms: float
    check_ms: float
    megabytes: float


def best(call: Callable[[], object], times: int = TIMES) -> float:
    """Return the least milliseconds of processor time of a call."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found) * 1e3


def measured(schedule: Schedule, times: int = TIMES, budget: int = BUDGET) -> Row:
    """Check a schedule so many times, and prove it alone as often."""
    overrides = parse_overrides((), schedule.settings)

    def check() -> Any:
        return check_reading(parse(schedule.text, "made.tsc.yaml", "yaml"), overrides, Proof(budget=budget))

    report = check()
    check_ms = best(check, times)
    # What is only not generated yet is judged all the same.
    errors = {it.name for it in report.found if it.severity is Severity.ERROR and it.code[:5] != "TSC59"}
    if report.document is None or report.judgement is None:
        said = ", ".join(sorted(errors)) or "no verdict"
        return Row(schedule.title, schedule.series, schedule.size, 0, 0, 0, said, 0.0, 0.0, check_ms, 0.0)
    spec, _ = to_spec(report.document, overrides)
    if spec is None:
        raise SystemExit(f"{schedule.title} cannot be read")
    program = resolve(spec, "made.tsc.yaml")

    translate_ms = best(lambda: translate(program), times)
    tracemalloc.start()
    system = translate(program).system
    verdict = prove(system, budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    proof_ms = best(lambda: prove(system, budget), times)
    return Row(
        schedule.title,
        schedule.series,
        schedule.size,
        len(report.judgement.translation.agents),
        verdict.states,
        verdict.steps,
        report.judgement.outcome,
        translate_ms,
        proof_ms,
        check_ms,
        peak / 1e6,
    )


def rows_of(all_of: Iterable[Schedule], times: int = TIMES, budget: int = BUDGET) -> list[Row]:
    """Measure schedules and print a line for each as it comes."""
    heads = ("agents", "states", "steps", "translate", "proof", "check", "MB")
    print(f"{'schedule':40} {''.join(f'{head:>10}' for head in heads)}  verdict")
    rows = []
    for schedule in all_of:
        row = measured(schedule, times, budget)
        counts = "".join(f"{count:10,}" for count in (row.agents, row.states, row.steps))
        spent = "".join(f"{it:10.2f}" for it in (row.translate_ms, row.proof_ms, row.check_ms, row.megabytes))
        print(f"{row.title:40} {counts}{spent}  {row.verdict}", flush=True)
        rows.append(row)
    return rows


def growth(rows: Iterable[Row]) -> dict[str, float]:
    """Return for each series the power of its size that the proof grows with, by its last two sizes."""
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.series and row.proof_ms:
            series.setdefault(row.series, []).append(row)
    return {
        name: math.log(own[-1].proof_ms / own[-2].proof_ms) / math.log(own[-1].size / own[-2].size)
        for name, own in series.items()
        if len(own) > 1
    }


def beside(rows: Iterable[Row], times: int = TIMES) -> list[dict[str, Any]]:
    """Print the verdicts on patterns that both check: ours for all trip counts, the peer's for some."""
    from benchmarks import peer

    ours, found = {row.title: row for row in rows}, []
    print(f"\n{'schedule':40}   states        ms  verdict   trips    states        ms  verdict of the peer")
    for schedule in peer.every():
        row, said = ours[schedule.title], peer.asked(schedule, times)
        own = f"{row.states:6,} {row.translate_ms + row.proof_ms:9.1f}  {row.verdict}"
        states = "-" if said.states is None else f"{said.states:,}"
        print(
            f"{row.title:40}   {own} {said.trips:8} {states:>9} {said.milliseconds:9.1f}  {said.verdict}",
            flush=True,
        )
        found.append(asdict(said))
    return found


def resident() -> float:
    """Return the most memory that the process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--explosive", action="store_true", help="schedules made to explode")
    parser.add_argument("--budget", type=int, default=BUDGET, help="states that a proof may look at")
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path, help="a JSON file for all figures")
    options = parser.parse_args()
    times = 1 if options.explosive else options.times
    print(
        f"Python {platform.python_version()}, budget {options.budget:,} states, best of {times}, ms and MB\n"
    )
    said: list[dict[str, Any]] = []
    if options.explosive:
        rows = rows_of(schedules.explosive(), times, options.budget)
    else:
        rows = rows_of(schedules.usual(), times, options.budget)
        print()
        rows += rows_of(schedules.growing(), times, options.budget)
        print()
        for name, power in growth(rows).items():
            print(f"{name}: the proof's time grows with the power {power:.2f} of the size")
    print(f"memory of the whole process: {resident():.0f} MB at most")
    if importlib.util.find_spec(PEER) is None:
        print(f"the package `{PEER}` is not installed, so nothing is compared with it")
    elif not options.explosive:
        said = beside(rows, times)
    if options.out:
        facts = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "commit": options.commit,
            "python": platform.python_version(),
            "times": times,
            "budget": options.budget,
            "rows": [asdict(row) for row in rows],
            "peer": said,
        }
        options.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
