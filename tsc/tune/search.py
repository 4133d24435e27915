"""The half of `tsc tune` that needs the compiler: from a spec to a folder of cubins, a point each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tsc.check import Proof
from tsc.spec.document import Spec
from tsc.spec.overrides import Overrides, UsageError
from tsc.tune.compile import Job, Outcome, build, each, examine, thrown_out_at_once
from tsc.tune.folder import COMPILED, POINTS, Space, TuneError, cubin_of, write_space
from tsc.tune.journal import Journal
from tsc.tune.progress import Progress
from tsc.tune.space import DEFAULT, Point, overrides_of, points
from tsc.version import VERSION

LARGEST = 20_000
"""Points of a space; a larger one is a mistake."""


@dataclass(slots=True)
class Compiling:
    """A spec whose space is compiled into a folder."""

    path: str
    spec: Spec
    base: Overrides
    proof: Proof
    folder: Path
    jobs: int = 0
    say: Callable[[str], None] = lambda line: None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """what is known of each point, without cubins"""

    def run(self, plan: str, sha256: str, cases: Sequence[Mapping[str, Any]]) -> Space:
        """Check all points, then compile those that fit; what a journal has done is not done again.

        Raises TuneError where the space is empty or too large, or the spec's own values do not fit.
        """
        space = self._points()
        (self.folder / POINTS).mkdir(parents=True, exist_ok=True)
        about = {"sha256": self._about(sha256)}
        with Journal(self.folder / COMPILED, about) as journal:
            if journal.resumed:
                self.say("going on where the journal ends")
            for record in journal.of("checked"):
                self.outcomes[record["checked"]] = Outcome(
                    record["checked"], record["rule"], record["reason"]
                )
            for outcome in thrown_out_at_once(space, self.spec, self.base):
                self.outcomes.setdefault(outcome.point, outcome)
            self._check(journal, space)
            fitting = [point for point in space if self.outcomes[point.name].fits]
            self._compile(journal, fitting)
        if not self.outcomes[DEFAULT].fits:
            own = self.outcomes[DEFAULT]
            raise TuneError(f"the spec's own values do not fit: {own.rule}: {own.reason}")
        made = Space(
            spec=Path(self.path).name,
            spec_sha256=sha256,
            kernel=self.spec.kernel,
            plan=plan,
            cases=tuple(cases),
            points={point.name: point.values for point in fitting if self.outcomes[point.name].fits},
        )
        write_space(self.folder, made)
        return made

    def _points(self) -> list[Point]:
        if self.spec.tune is None or not self.spec.tune.try_:
            raise TuneError("the spec has no `tune.try`, which says what is tried")
        size = 1
        for values in self.spec.tune.try_.values():
            size *= len(values)
        if not 0 < size <= LARGEST:
            raise TuneError(f"`tune.try` spans {size:,} points, and a search has 1 to {LARGEST:,}")
        space = list(points(self.spec.tune))
        try:
            for point in space[:2]:
                overrides_of(point.values, self.base)
        except UsageError as error:
            raise TuneError(f"`tune.try`: {error}") from None
        return space

    def _about(self, sha256: str) -> str:
        text = repr([VERSION, sha256, self.base, self.proof])
        return hashlib.sha256(text.encode()).hexdigest()

    def _check(self, journal: Journal, space: Sequence[Point]) -> None:
        left = [point for point in space if point.name not in self.outcomes]
        progress = Progress("checking", len(left))
        out = 0
        for outcome in each(examine, self._job(), left, self.jobs):
            self.outcomes[outcome.point] = outcome
            journal.add({"checked": outcome.point, "rule": outcome.rule, "reason": outcome.reason})
            out += not outcome.fits
            progress.step(f"{out:,} thrown out" if out else "")
        progress.end()

    def _compile(self, journal: Journal, fitting: Sequence[Point]) -> None:
        done = {record["built"] for record in journal.of("built")}
        left = [
            point
            for point in fitting
            if point.name not in done or not cubin_of(self.folder, point.name).is_file()
        ]
        progress = Progress("compiling", len(left))
        # What is compiled has been proved.
        job = replace(self._job(), proof=Proof(wanted=False))
        for outcome in each(build, job, left, self.jobs):
            if outcome.fits:
                file = cubin_of(self.folder, outcome.point)
                beside = file.with_suffix(".part")
                beside.write_bytes(outcome.cubin)
                beside.replace(file)
                journal.add(
                    {"built": outcome.point, "registers": outcome.registers, "spills": outcome.spills}
                )
            else:
                self.outcomes[outcome.point] = outcome
                journal.add({"checked": outcome.point, "rule": outcome.rule, "reason": outcome.reason})
            progress.step()
        progress.end()

    def _job(self) -> Job:
        return Job(self.path, self.base, self.proof)

    def thrown_out(self) -> list[Outcome]:
        """The points that do not fit, in the order of the space."""
        return sorted((it for it in self.outcomes.values() if not it.fits), key=lambda it: it.point)

    def words(self, name: str) -> str:
        """A point by its values."""
        found = () if self.spec.tune is None else points(self.spec.tune)
        return next((point.words() for point in found if point.name == name), name)

    def counts(self) -> list[tuple[str, int]]:
        """Reasons with the number of points that each throws out, the most frequent one first."""
        return Counter(it.rule for it in self.thrown_out()).most_common()
