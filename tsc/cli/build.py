"""`tsc build`: a spec's cubin."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.exits import FAULT_OF_SPEC, FAULT_OF_TOOL, OutputError, fail
from tsc.cli.options import (
    AllowUnproven,
    Budget,
    Defines,
    LanguageOption,
    SanitizeOption,
    Settings,
    SpecArgument,
    StdinName,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsc.check import Report
    from tsc.diagnostics.model import Diagnostic
    from tsc.program.model import Program
    from tsc.toolchain.build import Built

KINDS = ("cu", "ptx", "cubin")


def build(
    spec: SpecArgument,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where it goes, by default KERNEL.cubin; `-` prints. For several targets a folder, by "
            "default KERNEL.cubins, that `tsc.load` takes.",
        ),
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(metavar="SM", help="Another target than the spec's, such as `sm_90a`. Repeatable."),
    ] = None,
    emit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS", help="What to write, by commas: cu, ptx, cubin. Several lie side by side."
        ),
    ] = None,
    lineinfo: Annotated[
        bool, typer.Option("--lineinfo", help="Let profilers show lines of the spec.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show the compiler's log.")] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Compile even if the result is known.")
    ] = False,
    no_check: Annotated[
        bool,
        typer.Option(
            "--no-check",
            help="Build what the check calls wrong, if it can be built, and prove nothing: for experiments.",
        ),
    ] = False,
    allow_unproven: AllowUnproven = False,
    budget: Budget = None,
    sanitize: SanitizeOption = False,
    tuned: Annotated[
        str | None,
        typer.Option(
            "--tuned",
            metavar="TABLE",
            help="Use what `tsc tune` found fastest: for the case nearest to `--case` and `-D`, or, without "
            "those, for every case, into a folder that `tsc.load` takes.",
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="VALUES",
            help="Sizes that `--tuned` looks for and that stay open: `m=128,n=256`.",
        ),
    ] = None,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Compile a spec to a cubin and print what the kernel needs; no GPU and no CUDA toolkit are used.

    A schedule that is not proved is not built, unless the call allows it.
    """
    from tsc.check import Proof
    from tsc.cli.specs import checked, clean, cuda, overrides, resolved

    kinds = _kinds(emit)
    proof = Proof(wanted=not no_check, budget=budget, allow_unproven=allow_unproven)
    changes = overrides(defines, settings, arch)
    if tuned is not None:
        from tsc.cli.tuned import Request, choose

        if spec == "-" or kinds != ("cubin",):
            fail("`--tuned` builds cubins, from a spec in a file")
        request = Request(spec, tuned, tuple(case or ()), changes, proof, no_check, lang)
        found = choose(request, output)
        if found is None:
            return
        changes = found
    elif case:
        fail("`--case` says which case of a table is built; name one by `--tuned`")
    report = checked(spec, changes, stdin_filename, lang, proof)
    resolved(report, quiet=False) if no_check else clean(report)
    places = _places(output, kinds, report.programs)
    contents: dict[str, bytes] = {}
    summaries = []
    for program, paths in zip(report.programs, places, strict=True):
        source = cuda(report, program, sanitize=sanitize)
        made = {"cu": source.encode()}
        if kinds != ("cu",):
            built = compile_program(
                report, program, source, lineinfo=lineinfo, cached=not no_cache, verbose=verbose
            )
            made |= {"ptx": built.ptx.encode(), "cubin": built.cubin}
            summaries.append(_summary(built, paths))
        contents |= {path: made[kind] for kind, path in paths.items()}
    _write(contents, folder=len(places) > 1)
    print("".join(summaries), end="", file=sys.stderr if "-" in contents else sys.stdout)


def _kinds(emit: list[str] | None) -> tuple[str, ...]:
    kinds = tuple(dict.fromkeys(split(emit))) or ("cubin",)
    for kind in kinds:
        if kind not in KINDS:
            fail(f"`--emit {kind}` is none of {', '.join(KINDS)}")
    return kinds


def _paths(output: str, kinds: tuple[str, ...]) -> dict[str, str]:
    """Where each kind goes: one to the file that is named, several beside it under their own suffixes."""
    if len(kinds) == 1:
        return {kinds[0]: output}
    if output == "-":
        fail(f"standard output takes one kind, and `--emit` names {len(kinds)}")
    return {kind: output if kind == "cubin" else str(Path(output).with_suffix(f".{kind}")) for kind in kinds}


def _places(output: str | None, kinds: tuple[str, ...], programs: Sequence[Program]) -> list[dict[str, str]]:
    """Where each kind goes for each target: several targets share a folder, and name their files."""
    kernel = programs[0].kernel
    if len(programs) == 1:
        return [_paths(output or f"{kernel}.cubin", kinds)]
    folder = Path(output or f"{kernel}.cubins")
    if output == "-" or folder.is_file() or folder.suffix[1:] in (*KINDS, "fatbin"):
        which = "standard output" if output == "-" else f"`{output}`"
        targets = ", ".join(program.arch for program in programs)
        fail(
            f"{which} is one file, and the spec is built for {targets}; name a folder with `-o`, or one "
            "target with `--arch`"
        )
    return [{kind: str(folder / f"{kernel}.{program.arch}.{kind}") for kind in kinds} for program in programs]


def compile_program(
    report: Report, program: Program, source: str, *, lineinfo: bool, cached: bool, verbose: bool
) -> Built:
    """Compile, and show what the compiler says of the spec; what it refuses ends the command.

    Of several targets, all that is said names its own.
    """
    from tsc.cli.specs import complain_about, in_spec, named_alone
    from tsc.diagnostics.model import Place
    from tsc.toolchain.build import compile_source
    from tsc.toolchain.cache import default_cache
    from tsc.toolchain.diagnose import SpecText
    from tsc.toolchain.errors import CompileFailed, ToolchainError
    from tsc.toolchain.includes import with_nested
    from tsc.toolchain.nvrtc import CompileOptions

    document = named_alone(report)
    on = f", on `{program.arch}`" if len(report.programs) > 1 else ""

    def tell(diagnostics: Sequence[Diagnostic]) -> None:
        named = [replace(it, message=f"{it.message}{on}") for it in in_spec(diagnostics, report)]
        complain_about(named, report.sources)

    try:
        built = compile_source(
            source,
            with_nested(program.includes, Path(report.name).parent),
            program.arch,
            CompileOptions(lineinfo=lineinfo),
            spec=SpecText(document.name, document.text, document.span_of(Place(("kernel",)))),
            cache=default_cache() if cached else None,
        )
    except CompileFailed as error:
        tell(error.diagnostics)
        if verbose:
            sys.stderr.write(error.log)
        if error.is_fault_of_spec:
            raise typer.Exit(FAULT_OF_SPEC) from None
        sys.stderr.write("".join(f"{line}\n" for line in error.internal))
        fail(f"{error}{on}; report it with the spec and the output of `tsc --version`", FAULT_OF_TOOL)
    except ToolchainError as error:
        fail(str(error), FAULT_OF_TOOL)
    tell(built.diagnostics)
    if verbose:
        sys.stderr.write(built.log)
        made = "found in the cache" if built.cached else f"compiled in {built.seconds:.2f} s"
        print(f"{made}, NVRTC {built.nvrtc_version}{on}", file=sys.stderr)
    return built


def _write(contents: dict[str, bytes], *, folder: bool) -> None:
    from tsc.cli.output import show
    from tsc.toolchain.errors import WriteError
    from tsc.toolchain.write import Output, write_outputs

    if "-" in contents:
        show(contents["-"])
        return
    try:
        if folder:
            Path(next(iter(contents))).parent.mkdir(parents=True, exist_ok=True)
        write_outputs([Output(path, data) for path, data in contents.items()])
    except (WriteError, OSError) as error:
        raise OutputError(str(error)) from error


def _summary(built: Built, paths: dict[str, str]) -> str:
    """What was written, and what the kernel needs."""
    from tsc.artifact.inspect import inspect

    facts = inspect(built.cubin)
    manifest, needs = facts.manifest, facts.resources
    spills = built.usage.spill_stores + built.usage.spill_loads
    mbarriers = sum(barrier.count for barrier in manifest.barriers)
    rows = {
        "registers": f"{needs.registers} a thread",
        "spills": f"{spills:,} B a thread" if spills else "none",
        "shared memory": f"{manifest.smem_bytes:,} B dynamic, {needs.static_smem_bytes:,} B static",
        "barriers": f"{mbarriers} mbarriers, {needs.named_barriers or 0} named",
    }
    files = ", ".join(path for path in paths.values() if path != "-") or "standard output"
    lines = [f"{files}: {manifest.kernel} for {manifest.arch}"]
    return "\n".join([*lines, *(f"  {title:13}  {text}" for title, text in rows.items())]) + "\n"
