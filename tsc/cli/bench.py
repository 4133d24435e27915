"""`tsc bench`: how fast a kernel is, in a race with others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.exits import FAULT_OF_SPEC, FAULT_OF_TOOL, fail
from tsc.cli.options import (
    AllowUnproven,
    ArchOption,
    Budget,
    FormatOption,
    LanguageOption,
    Settings,
    SpecArgument,
    StdinName,
    TextOrJson,
)

if TYPE_CHECKING:
    from tsc.verify.plan import Plan


def bench(
    spec: SpecArgument,
    defines: Annotated[
        list[str] | None,
        typer.Option(
            "-D",
            "--define",
            metavar="NAME=VALUE",
            help="Set a constant, a size or a number of the case. Repeatable.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="WHOM",
            help="`cublas`, `torch`, `memcpy` or another cubin of the same params. Repeatable; by default "
            "`cublas` where the reference is a matrix product, else `memcpy`.",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Build the sizes into the kernel, as `tsc build -D` does.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A look of some seconds.")] = False,
    cubin: Annotated[
        str | None, typer.Option("--cubin", metavar="FILE", help="Time this cubin instead of building one.")
    ] = None,
    format: FormatOption = TextOrJson.TEXT,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Time what the check calls wrong, if it can be built.")
    ] = False,
    allow_unproven: AllowUnproven = False,
    budget: Budget = None,
    arch: ArchOption = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Time a kernel on the GPU at hand, in random order with whom it is held against.

    Settled: blocks of 150 ms under load, the second half of each counted. Burst: 20 launches after a rest.
    Inputs are N(0, 1) and rotate over more than three times the L2. Operations are the matrix products of
    `verify.reference`; without one, bytes of params are counted. Sizes that the call leaves open are those
    of the spec's first case. `python -m tsc.bench.run CUBIN` does the same where there is no compiler.
    """
    from tempfile import TemporaryDirectory

    from tsc.bench.report import text
    from tsc.bench.run import QUICK, BenchError, Length
    from tsc.bench.run import bench as measured
    from tsc.check import Proof, check_reading
    from tsc.cli.build import compile_program
    from tsc.cli.cases import (
        apart,
        case_of,
        complete,
        filled,
        look_for_gpu,
        opponents,
        plan_or_none,
        refuse_cubin,
    )
    from tsc.cli.output import show, to_json
    from tsc.cli.specs import clean, cuda, overrides, resolved
    from tsc.cli.targets import at_hand
    from tsc.source import ReadError, read
    from tsc.verify.plan import to_json as plan_text

    refuse_cubin(spec, "tsc.bench.run")
    opponents(against or ())
    if cubin is not None and not Path(cubin).is_file():
        fail(f"`--cubin {cubin}` names no file")
    try:
        reading = read(spec, stdin_name=stdin_filename, language=lang)
    except ReadError as error:
        fail(str(error))
    constants, values = apart(defines or [], reading.document.data if reading.document is not None else {})
    fixed = [*constants, *values] if fix else constants
    proof = Proof(wanted=not no_check and cubin is None, budget=budget, allow_unproven=allow_unproven)
    report = check_reading(reading, overrides(fixed, settings, arch), proof)
    program = resolved(report, quiet=False) if no_check else clean(report)
    plan = plan_or_none(program.spec, report.name)
    case = filled(case_of(values), program.spec)
    complete(case, program)
    driver = look_for_gpu("`python -m tsc.bench.run` times a cubin on a machine that has no compiler")
    with TemporaryDirectory(prefix="tsc-bench-") as folder:
        path = Path(cubin or f"{folder}/{program.kernel}.cubin")
        if cubin is None:
            program = at_hand(report, driver)
            source = cuda(report, program)
            built = compile_program(report, program, source, lineinfo=False, cached=True, verbose=False)
            path.write_bytes(built.cubin)
        try:
            result = measured(
                path, plan_text(plan), case, against or [_usual(plan)], QUICK if quick else Length()
            )
        except BenchError as error:
            fail(str(error), FAULT_OF_TOOL)
    result["kernel"] = program.kernel
    show(to_json(result) if format is TextOrJson.JSON else text(result))


def _usual(plan: Plan) -> str:
    """Whom a kernel races if the call does not say."""
    from tsc.bench.eager import product_of
    from tsc.verify.plan import PlanError

    try:
        trees = list(plan.trees().values())
    except PlanError as error:
        fail(str(error), FAULT_OF_SPEC)
    return "cublas" if len(trees) == 1 and product_of(trees[0]) is not None else "memcpy"
