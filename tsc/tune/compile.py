"""From points to cubins, in several processes: check, prove and compile; what does not fit says why."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tsc.check import Proof, Report, RuleFailure, check_reading
from tsc.diagnostics.model import Severity
from tsc.source import Reading, read
from tsc.spec.document import Spec
from tsc.spec.load import to_spec
from tsc.spec.overrides import Define, Overrides, Setting
from tsc.tune.space import Point, known, overrides_of, unmet

WHERE = "tune.where"
COMPILER = "compiler"
TOOL = "a fault of tsc"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a point: a cubin, or the reason why there is none."""

    point: str
    rule: str = ""
    """what throws it out: a rule's code and name, `tune.where` or `compiler`; empty where it fits"""
    reason: str = ""
    cubin: bytes = b""
    spills: int = 0
    registers: int = 0

    @property
    def fits(self) -> bool:
        """Whether nothing is against it so far."""
        return not self.rule


@dataclass(frozen=True, slots=True)
class Job:
    """What a process needs to know of a spec."""

    path: str
    base: Overrides
    proof: Proof


def processes(wanted: int = 0) -> int:
    """How many processes to use."""
    return wanted or max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


def each(
    function: Callable[[Job, Point], Outcome], job: Job, points: Sequence[Point], jobs: int = 0
) -> Iterator[Outcome]:
    """What a function makes of every point, as it is done, in processes of their own."""
    count = min(processes(jobs), len(points))
    if count <= 1:
        yield from (function(job, point) for point in points)
        return
    # Not forked: a compiler that this process has used may hold locks.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=spawn) as pool:
        futures = [pool.submit(_remote, function.__name__, *_packed(job, point)) for point in points]
        try:
            for future in as_completed(futures):
                yield Outcome(*future.result())
        finally:
            for future in futures:
                future.cancel()


def _packed(job: Job, point: Point) -> tuple[Any, ...]:
    """A job and a point as plain data: the classes of the two processes need not be made alike."""
    base = job.base
    defines = [(it.name, it.value, it.option) for it in base.defines]
    settings = [(it.route, it.value, it.option) for it in base.settings]
    proof = job.proof.wanted, job.proof.budget, job.proof.allow_unproven
    return job.path, defines, settings, proof, point.name, dict(point.values)


def _remote(
    function: str,
    path: str,
    defines: list[Any],
    settings: list[Any],
    proof: tuple[Any, ...],
    name: str,
    values: dict[str, Any],
) -> tuple[Any, ...]:
    base = Overrides(tuple(Define(*it) for it in defines), tuple(Setting(*it) for it in settings))
    outcome = {"examine": examine, "build": build}[function](
        Job(path, base, Proof(*proof)), Point(name, values)
    )
    return tuple(getattr(outcome, field.name) for field in fields(outcome))


def examine(job: Job, point: Point) -> Outcome:
    """Whether a point fits: the conditions of `tune.where`, the rules and the proof."""
    return _report(job, point)[1] or Outcome(point.name)


def build(job: Job, point: Point) -> Outcome:
    """The cubin of a point, examined as the job says."""
    from tsc.emit import NotGenerated, emit
    from tsc.toolchain.build import compile_source
    from tsc.toolchain.cache import default_cache
    from tsc.toolchain.errors import ToolchainError
    from tsc.toolchain.includes import with_nested

    report, against = _report(job, point)
    if against is not None or report is None or report.program is None or report.document is None:
        return against or Outcome(point.name, COMPILER, "the spec has no program")
    program = report.program
    document = replace(report.document, name=Path(report.name).name)
    works = {
        name: replace(work, text_name=document.name) if work.text_name == report.name else work
        for name, work in program.works.items()
    }
    try:
        source = emit(replace(program, works=works), document=document)
        headers = with_nested(program.includes, Path(report.name).parent)
        built = compile_source(source, headers, program.arch, cache=default_cache())
    except (NotGenerated, ToolchainError) as error:
        return Outcome(point.name, COMPILER, str(error))
    spills = built.usage.spill_stores + built.usage.spill_loads
    return Outcome(point.name, cubin=built.cubin, spills=spills, registers=built.usage.registers)


def _report(job: Job, point: Point) -> tuple[Report | None, Outcome | None]:
    """The check of a point, and what is against it."""
    reading, spec = spec_of(job.path, job.base)
    changes = overrides_of(point.values, job.base)
    try:
        report = check_reading(reading, changes, job.proof)
    except RuleFailure as error:
        # One point on which tsc itself fails must not end the search.
        return None, Outcome(point.name, TOOL, str(error))
    if report.program is not None and point.values and spec is not None and spec.tune is not None:
        names = {**known({}, point.values, job.base), **report.program.constants}
        condition = unmet(spec.tune.where, names)
        if condition:
            return report, Outcome(point.name, WHERE, f"`{condition}` is false")
    for diagnostic in report.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            return report, Outcome(point.name, f"{diagnostic.code} {diagnostic.name}", diagnostic.message)
    return report, None


def thrown_out_at_once(points: Iterable[Point], spec: Spec, base: Overrides) -> Iterator[Outcome]:
    """The points whose values alone break a condition of `tune.where`; nothing is checked for them."""
    for point in points:
        if point.values and spec.tune is not None:
            condition = unmet(spec.tune.where, known(spec.constants, point.values, base))
            if condition:
                yield Outcome(point.name, WHERE, f"`{condition}` is false")


_READ: dict[str, tuple[Reading, Spec | None]] = {}


def spec_of(path: str, base: Overrides) -> tuple[Reading, Spec | None]:
    """A spec as the call changes it, read once a process. Raises `tsc.source.ReadError`."""
    key = f"{path} {base}"
    if key not in _READ:
        reading = read(path)
        spec = to_spec(reading.document, base)[0] if reading.document is not None else None
        _READ[key] = reading, spec
    return _READ[key]
