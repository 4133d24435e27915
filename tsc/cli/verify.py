"""`tsc verify`: a kernel on a GPU against what its spec says it computes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.exits import FAULT_OF_SPEC, complain, fail
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
    from tsc.check import Report
    from tsc.program.model import Program
    from tsc.verify.plan import Plan


def verify(
    spec: SpecArgument,
    defines: Annotated[
        list[str] | None,
        typer.Option(
            "-D",
            "--define",
            metavar="NAME=VALUE",
            help="Set a constant, or run the first case with this size or number. Repeatable.",
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="N",
            help="Run this case of `verify.cases`, or the first with values: `m=128,n=256`. Repeatable.",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Build the sizes of `-D` into the kernel, as `tsc build -D` does.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Other inputs.")] = 0,
    cubin: Annotated[
        str | None, typer.Option("--cubin", metavar="FILE", help="Run this cubin instead of building one.")
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            "--prepare",
            metavar="FILE.cubin",
            help="Write the cubin, into a folder or to a file, and the plan beside it; run nothing. "
            "`python -m tsc.verify.run` does, on a machine with a GPU and without the compiler.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=1, help="What a case may take.")
    ] = 120.0,
    format: FormatOption = TextOrJson.TEXT,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Run what the check calls wrong, if it can be built.")
    ] = False,
    allow_unproven: AllowUnproven = False,
    budget: Budget = None,
    arch: ArchOption = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Run a kernel on fresh random inputs and compare what it writes with `verify.reference`.

    Outputs are poisoned before each of three launches; memory round them must stay as it is. Exits with 1
    where a case fails, with 3 where there is no GPU.
    """
    from tsc.check import Proof, check_reading
    from tsc.cli.cases import apart, belongs, look_for_gpu, refuse_cubin
    from tsc.cli.specs import clean, overrides, resolved
    from tsc.cli.targets import at_hand, first
    from tsc.source import ReadError, read
    from tsc.verify.choose import chosen
    from tsc.verify.plan import PlanError
    from tsc.verify.planning import plan_of

    refuse_cubin(spec, "tsc.verify.run")
    if prepare is not None and cubin is not None:
        fail("`--prepare` writes a cubin, and `--cubin` names one that there is")
    given = _read(Path(cubin)) if cubin is not None else b""
    try:
        reading = read(spec, stdin_name=stdin_filename, language=lang)
    except ReadError as error:
        fail(str(error))
    data = reading.document.data if reading.document is not None else {}
    constants, values = apart(defines or [], data)
    fixed = [*constants, *_sizes(values, data)] if fix else constants
    proof = Proof(wanted=not no_check and cubin is None, budget=budget, allow_unproven=allow_unproven)
    report = check_reading(reading, overrides(fixed, settings, arch), proof)
    program = resolved(report, quiet=False) if no_check else clean(report)
    try:
        plan = plan_of(program.spec, Path(report.name).name, Path(report.name).parent)
    except PlanError as error:
        fail(str(error), FAULT_OF_SPEC)
    try:
        choices = [*(case or []), *([",".join(values)] if values else [])]
        # A wrong choice is refused before anything is built.
        wanted = [one for _, one in chosen(plan, choices)]
        for one in wanted:
            belongs(one, program)
    except PlanError as error:
        fail(str(error))
    if prepare is not None:
        # Where it runs, all cases of the plan are: those that this call chooses.
        plan = replace(plan, cases=tuple(wanted)) if choices else plan
        _write(_target(prepare, plan), _built(report, first(report)), plan)
        return
    cuda = look_for_gpu("`--prepare` writes what a machine with a GPU needs")
    image = given or _built(report, at_hand(report, cuda))
    raise typer.Exit(_run(image, plan, choices, seed, timeout, format))


def _sizes(values: list[str], data: object) -> list[str]:
    """Those values that are no param's, so that a kernel can be built for them."""
    params = data.get("params") if isinstance(data, dict) else None
    taken = params.keys() if isinstance(params, dict) else ()
    return [text for text in values if text.partition("=")[0].strip() not in taken]


def _built(report: Report, program: Program) -> bytes:
    from tsc.cli.build import compile_program
    from tsc.cli.specs import cuda

    source = cuda(report, program)
    return compile_program(report, program, source, lineinfo=False, cached=True, verbose=False).cubin


def _read(cubin: Path) -> bytes:
    try:
        return cubin.read_bytes()
    except OSError as error:
        fail(f"`{cubin}` cannot be read: {error.strerror}")


def _target(written: str, plan: Plan) -> Path:
    """Where the cubin goes; in a folder it is named for its spec."""
    target = Path(written)
    if target.is_dir():
        target /= f"{plan.spec.partition('.tsc.')[0]}.cubin"
    elif target.suffix != ".cubin":
        fail(f"`--prepare {written}` names neither a folder nor a file that ends in `.cubin`")
    return target


def _write(target: Path, image: bytes, plan: Plan) -> None:
    """Write a cubin and its plan."""
    from tsc.cli.exits import OutputError
    from tsc.toolchain.errors import WriteError
    from tsc.toolchain.write import Output, write_outputs
    from tsc.verify.plan import SUFFIX, to_json

    beside = target.with_suffix(SUFFIX)
    try:
        write_outputs([Output(str(target), image), Output(str(beside), to_json(plan).encode())])
    except WriteError as error:
        raise OutputError(str(error)) from error
    print(f"{target}, {beside}: run them by `python -m tsc.verify.run {target}` where there is a GPU")


def _run(image: bytes, plan: Plan, choices: list[str], seed: int, timeout: float, format: TextOrJson) -> int:
    """Run a cubin in a process of its own and show what it found; returns the exit code."""
    from tempfile import TemporaryDirectory

    from tsc.cli.output import show, to_json
    from tsc.verify.plan import SUFFIX
    from tsc.verify.plan import to_json as plan_text
    from tsc.verify.results import data, table
    from tsc.verify.supervise import supervise

    with TemporaryDirectory(prefix="tsc-verify-") as folder:
        path = Path(folder, f"{plan.kernel}.cubin")
        path.write_bytes(image)
        beside = path.with_suffix(SUFFIX)
        beside.write_text(plan_text(plan), encoding="utf-8")
        results, code = supervise(
            path, beside, kernel=plan.kernel, spec=plan.spec, choices=choices, seed=seed, timeout=timeout
        )
    if format is TextOrJson.JSON:
        show(to_json(data(results)))
    elif results.cases or not results.error:
        show(table(results))
    if results.error and (format is TextOrJson.JSON or not results.cases):
        sys.stdout.flush()
        complain(results.error)
    return code or (0 if results.ok else 1)
