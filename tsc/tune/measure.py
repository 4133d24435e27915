"""`python -m tsc.tune.measure FOLDER`: the half of `tsc tune` that needs a GPU and no compiler.

Points race in groups, each beside the spec's own values, and are ranked by their time over those: what
drifts from group to group falls out. Who stays is decided by successive halving; the last two race once more.
A point that hangs, faults or is wrong is left out, with the reason in the journal.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tsc.artifact.tuned import SUFFIX, Entry, Table, to_json
from tsc.bench.figures import ratio
from tsc.bench.run import FIRST_ANSWER, module_path
from tsc.bench.watch import Lost, Message, Worker
from tsc.tune.folder import MEASURED, Space, TuneError, called, cubin_of, read_space
from tsc.tune.halving import FIRST_BLOCK, halve
from tsc.tune.journal import Journal, Record
from tsc.tune.progress import Progress

DEFAULT = "default"
GROUP = 12
"""Points that race together, beside the spec's own values."""
FINALISTS = 2


@dataclass(frozen=True, slots=True)
class Pace:
    """How long is measured, in seconds; `budget` is for one case."""

    budget: float = 120.0
    silence: float = 20.0
    final_turns: int = 8
    final_block: float = 0.15
    final_load: float = 1.0


@dataclass(slots=True)
class Search:
    """The search of one folder on one GPU."""

    folder: Path
    space: Space
    worker: Worker
    journal: Journal
    facts: Mapping[str, str]
    pace: Pace = field(default_factory=Pace)
    now: Callable[[], float] = time.monotonic
    say: Callable[[str], None] = lambda line: None

    def run(self) -> Table:
        """Measure every case that the journal has not decided; the table of all."""
        for case in self.space.cases:
            if self._decision(case) is None:
                self._decide(case)
        entries = [self._entry(record) for record in self.journal.of("decided")]
        facts = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), **self.facts}
        facts.pop("device", None)
        space = self.space
        return Table(space.spec, space.spec_sha256, space.kernel, tuple(entries), facts)

    def _decision(self, case: Mapping[str, Any]) -> Record | None:
        return next((one for one in self.journal.of("decided") if one["decided"] == dict(case)), None)

    def _entry(self, record: Record) -> Entry:
        return Entry(
            record["decided"],
            self.space.points[record["point"]],
            self.facts["device"],
            record["microseconds"],
            record["ratio"],
            record["ratio_error"],
            f"{self.space.kernel}_{called(record['decided'])}.cubin",
        )

    def _decide(self, case: Mapping[str, Any]) -> None:
        begin = self.now()
        progress = Progress(f"measuring {called(case)}", len(self.space.points))
        # Whether times are relative must not change from group to group.
        relative = bool(self._race(case, [DEFAULT], FIRST_BLOCK, 1, 0.0, few=True))

        def measure(names: Sequence[str], block: float, turns: int) -> dict[str, list[float]]:
            found: dict[str, list[float]] = {}
            for at in range(0, len(names), GROUP):
                found |= self._over_default(case, names[at : at + GROUP], block, turns, relative)
                progress.step(f"blocks of {1e3 * block:.0f} ms", count=len(names[at : at + GROUP]))
            return found

        names = [name for name in self.space.points if name != DEFAULT]
        ranked = halve(names, measure, keep=FINALISTS, spent=lambda: self.now() - begin > self.pace.budget)
        last = [DEFAULT, *(one.name for one in ranked[:FINALISTS])]
        progress.end()
        pace = self.pace
        seconds = self._race(case, last, pace.final_block, pace.final_turns, pace.final_load, few=False)
        if not seconds:
            self.say(f"{called(case)}: no point runs; `{MEASURED}` says why")
            return
        best = min(seconds, key=lambda name: statistics.median(seconds[name]))
        own = seconds.get(DEFAULT, seconds[best])
        compared = ratio(own, seconds[best])
        record = {
            "decided": dict(case),
            "point": best,
            "microseconds": statistics.median(seconds[best]) * 1e6,
            "ratio": compared.value,
            "ratio_error": compared.error,
        }
        self.journal.add(record)
        words = " ".join(f"{key}={value}" for key, value in self.space.points[best].items())
        self.say(
            f"{called(case)}: {words or 'the defaults of the spec'}, {record['microseconds']:,.2f} us, "
            f"{compared.value:.3f} times as fast as the defaults"
        )

    def _over_default(
        self, case: Mapping[str, Any], names: Sequence[str], block: float, turns: int, relative: bool
    ) -> dict[str, list[float]]:
        """Times over those of the spec's own values, turn by turn; absolute where those do not run."""
        seconds = self._race(case, [DEFAULT, *names], block, turns, block, few=True)
        own = seconds.pop(DEFAULT, None)
        if own is None and relative and seconds:
            raise TuneError("the spec's own values ran once and fail now; a new call goes on without them")
        if own is None:
            return seconds
        return {
            name: [taken / base for taken, base in zip(samples, own, strict=True)]
            for name, samples in seconds.items()
        }

    def _left(self, case: Mapping[str, Any], names: Sequence[str]) -> list[str]:
        failed = {one["failed"] for one in self.journal.of("failed") if one["case"] == dict(case)}
        return [name for name in names if name not in failed]

    def _race(
        self,
        case: Mapping[str, Any],
        names: Sequence[str],
        block: float,
        turns: int,
        load: float,
        *,
        few: bool,
    ) -> dict[str, list[float]]:
        """Seconds a launch by point, from the journal if it has this race; who fails is left out."""
        while True:
            left = self._left(case, names)
            if not left:
                return {}
            key = {"case": dict(case), "race": left, "block": block, "turns": turns}
            for record in self.journal.of("race"):
                if {name: record[name] for name in key} == key:
                    return {name: list(samples) for name, samples in record["seconds"].items()}
            seconds = self._ask(case, left, {"block": block, "turns": turns, "load": load, "few": few})
            still = self._left(case, names)
            if seconds is not None and seconds.keys() == set(still):
                self.journal.add({**key, "race": still, "seconds": seconds})
                return seconds
            if still == left:
                raise TuneError("the process that runs the kernels gives no times")

    def _ask(
        self, case: Mapping[str, Any], names: Sequence[str], how: Mapping[str, Any]
    ) -> dict[str, list[float]] | None:
        """One request: the times, or None where a point failed and was noted. Raises TuneError."""
        request = {
            "plan": self.space.plan,
            "case": dict(case),
            "cubin": str(cubin_of(self.folder, DEFAULT)),
            "points": [{"name": name, "cubin": str(cubin_of(self.folder, name))} for name in names],
            **how,
        }
        seconds = None
        for message in self.worker.ask(request, self.pace.silence, FIRST_ANSWER):
            if isinstance(message, Lost):
                if message.at not in names:
                    raise TuneError(f"the process that runs the kernels is lost: {message.why}")
                self._note(case, message.at, message.why)
            elif "error" in message:
                raise TuneError(str(message["error"]))
            elif "failed" in message:
                self._note(case, message["failed"], message["why"])
            elif "seconds" in message:
                seconds = message["seconds"]
        return seconds

    def _note(self, case: Mapping[str, Any], point: str, why: str) -> None:
        self.journal.add({"failed": point, "case": dict(case), "why": why})
        self.say(f"{called(case)}: {point} is left out: {why}")


def facts_of(worker: Worker) -> dict[str, str]:
    """What GPU a worker runs on. Raises TuneError where there is none."""
    facts: dict[str, str] = {}
    for message in list(_messages(worker.ask({}, FIRST_ANSWER, FIRST_ANSWER))):
        facts |= {str(key): str(value) for key, value in message.get("facts", {}).items()}
        if "error" in message:
            raise TuneError(str(message["error"]))
    if "device" not in facts:
        raise TuneError("the process that runs the kernels says nothing of its GPU")
    return facts


def _messages(messages: Iterator[Message | Lost]) -> Iterator[Message]:
    for message in messages:
        if isinstance(message, Lost):
            raise TuneError(f"the process that runs the kernels is lost: {message.why}")
        yield message


def measure(
    folder: Path,
    pace: Pace,
    say: Callable[[str], None],
    command: Sequence[str] = (sys.executable, "-m", "tsc.tune.worker"),
) -> Path:
    """Measure what a folder holds, and put the table and the winners' cubins there. Raises TuneError."""
    space = read_space(folder)
    with Worker(command, module_path()) as worker:
        facts = facts_of(worker)
        about = {"spec_sha256": space.spec_sha256, "device": facts["device"]}
        with Journal(folder / MEASURED, about) as journal:
            if journal.resumed:
                say("going on where the journal ends")
            search = Search(folder, space, worker, journal, facts, pace, say=say)
            table = search.run()
            if not table.entries:
                raise TuneError(f"nothing of `{space.kernel}` runs; `{folder / MEASURED}` says why")
            for record, entry in zip(journal.of("decided"), table.entries, strict=True):
                shutil.copyfile(cubin_of(folder, record["point"]), folder / entry.cubin)
    file = folder / f"{space.kernel}{SUFFIX}"
    beside = file.with_suffix(".part")
    beside.write_text(to_json(table), encoding="utf-8")
    beside.replace(file)
    return file


def options() -> argparse.ArgumentParser:
    """What a call may say."""
    parser = argparse.ArgumentParser(prog="python -m tsc.tune.measure")
    parser.add_argument("folder", type=Path, help="what `tsc tune SPEC --compile-only -o FOLDER` made")
    parser.add_argument("--seconds", type=float, default=Pace().budget, help="for the halving of one case")
    parser.add_argument("--silence", type=float, default=Pace().silence, help="after which a kernel hangs")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the call and measure; returns the exit code."""
    given = options().parse_args(arguments)
    try:
        pace = Pace(budget=given.seconds, silence=given.silence)
        file = measure(given.folder, pace, lambda line: print(line, flush=True))
    except TuneError as error:
        print(f"tsc: {error}", file=sys.stderr)
        return 2
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
