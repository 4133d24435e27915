"""`tsc emit`: the CUDA of a spec."""

from __future__ import annotations

from typing import Annotated

import typer

from tsc.cli.options import (
    ArchOption,
    Defines,
    LanguageOption,
    OutputOption,
    SanitizeOption,
    Settings,
    SpecArgument,
    StdinName,
)


def emit(
    spec: SpecArgument,
    output: OutputOption = "-",
    no_headers: Annotated[
        bool, typer.Option("--no-headers", help="Leave the device headers out, to read the kernel alone.")
    ] = False,
    no_line: Annotated[
        bool,
        typer.Option("--no-line", help="Leave `#line` out, so that errors name the CUDA and not the spec."),
    ] = False,
    arch: ArchOption = None,
    sanitize: SanitizeOption = False,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Print the CUDA C++ of a spec, as `tsc build` compiles it."""
    from tsc.cli.output import deliver
    from tsc.cli.specs import checked, clean, cuda, overrides
    from tsc.cli.targets import first

    report = checked(spec, overrides(defines, settings, arch), stdin_filename, lang)
    clean(report)
    program = first(report)
    deliver(cuda(report, program, headers=not no_headers, line=not no_line, sanitize=sanitize), output)
