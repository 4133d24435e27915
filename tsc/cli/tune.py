"""`tsc tune`: the fastest values of a spec for each of its cases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.exits import FAULT_OF_SPEC, FAULT_OF_TOOL, fail
from tsc.cli.options import AllowUnproven, ArchOption, Budget, LanguageOption, Settings

if TYPE_CHECKING:
    from tsc.tune.search import Compiling


def tune(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A `*.tsc.yaml` or `*.tsc.toml`.")],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="Where everything goes, by default KERNEL.tuned."
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="VALUES",
            help="Measure this instead of `tune.cases`: `m=128,n=256`. Repeatable.",
        ),
    ] = None,
    compile_only: Annotated[
        bool,
        typer.Option(
            "--compile-only",
            help="Measure nothing: `python -m tsc.tune.measure FOLDER` does, on a machine with a GPU and "
            "without the compiler.",
        ),
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Say of each point that is thrown out what is against it.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, whatever an earlier call has done.")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            "-j", "--jobs", metavar="N", min=0, help="Processes that compile, by default one a processor."
        ),
    ] = 0,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="SECONDS", min=1, help="What the search on one case may take."),
    ] = 120.0,
    silence: Annotated[
        float,
        typer.Option(
            "--silence", metavar="SECONDS", min=1, help="Seconds after which a kernel is taken to hang."
        ),
    ] = 20.0,
    defines: Annotated[
        list[str] | None,
        typer.Option("-D", "--define", metavar="NAME=VALUE", help="Set a constant. Repeatable."),
    ] = None,
    allow_unproven: AllowUnproven = False,
    budget: Budget = None,
    arch: ArchOption = None,
    settings: Settings = None,
    lang: LanguageOption = None,
) -> None:
    """Try the values of `tune.try` and keep the fastest for each of `tune.cases`.

    What cannot fit (`tune.where`, rules, proof) is thrown out before anything is compiled. A kernel that
    hangs, faults or is wrong is noted and left out. A call that was interrupted goes on where it was. The
    folder then holds a table, `KERNEL.tuned.json`, and a cubin a case: `tsc build --tuned` and `tsc.load`
    take them.
    """
    from tsc.check import Proof, check_reading
    from tsc.cli.cases import case_of, complete, filled, look_for_gpu, plan_or_none
    from tsc.cli.specs import clean, overrides
    from tsc.cli.targets import at_hand, first, only
    from tsc.emit.manifest import spec_hash
    from tsc.source import ReadError, read
    from tsc.spec.wording import count
    from tsc.tune.folder import COMPILED, MEASURED, TuneError
    from tsc.tune.search import Compiling
    from tsc.verify.plan import to_json

    if spec == "-":
        fail("`tsc tune` reads its spec several times, and standard input can be read once; name a file")
    try:
        reading = read(spec, language=lang)
    except ReadError as error:
        fail(str(error))
    base = overrides(defines, settings, arch)
    report = check_reading(reading, base, Proof(wanted=False))
    program = clean(report)
    space = program.spec.tune
    given = [case_of([one]) for one in case or []] or [dict(it) for it in (space.cases if space else ())]
    cases = [filled(one, program.spec, [{}]) for one in given]
    if not cases:
        fail("there is nothing to measure: the spec has no `tune.cases`; write some, or give `--case`")
    for one in cases:
        complete(one, program)
    if compile_only:
        chosen = first(report)
    else:
        chosen = at_hand(report, look_for_gpu("`--compile-only` makes what a machine with a GPU needs"))
    base = only(chosen, base) if len(report.programs) > 1 else base
    proof = Proof(budget=budget, allow_unproven=allow_unproven)
    folder = Path(output or f"{program.kernel}.tuned")
    if fresh:
        for journal in (COMPILED, MEASURED):
            (folder / journal).unlink(missing_ok=True)
    compiling = Compiling(spec, program.spec, base, proof, folder, jobs, say=_say)
    try:
        plan = to_json(plan_or_none(program.spec, spec))
        made = compiling.run(plan, spec_hash(program, reading.document), cases)
    except TuneError as error:
        _tell(compiling, why)
        fail(str(error), FAULT_OF_SPEC)
    except OSError as error:
        fail(f"`{folder}` cannot be written: {error.strerror}")
    _tell(compiling, why)
    print(f"{folder}: {count(len(made.points), 'point')} and {count(len(cases), 'case')}")
    if compile_only:
        print(f"`python -m tsc.tune.measure {folder}` measures them where there is a GPU")
        return
    _measure(folder, seconds, silence)


def _measure(folder: Path, seconds: float, silence: float) -> None:
    from tsc.tune.folder import TuneError
    from tsc.tune.measure import Pace, measure

    try:
        print(measure(folder, Pace(budget=seconds, silence=silence), print))
    except TuneError as error:
        sys.stdout.flush()
        fail(str(error), FAULT_OF_TOOL)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _tell(compiling: Compiling, why: bool) -> None:
    """What was thrown out: how many by which reason, and with `--why` each point."""
    for reason, count in compiling.counts():
        print(f"thrown out by {reason}: {count:,}")
    if why:
        for outcome in compiling.thrown_out():
            words = compiling.words(outcome.point)
            print(f"  {words}: {outcome.rule}: {outcome.reason}")
