"""`tsc build`: a spec's cubin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.options import Defines, LanguageOption, Settings, SpecArgument, StdinName

if TYPE_CHECKING:
    pass

KINDS = ("cu", "ptx", "cubin")


def build(
    spec: SpecArgument,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where it goes, `KERNEL.cubin` by default; `-` is standard output.",
        ),
    ] = None,
    arch: Annotated[str | None, typer.Option(metavar="SM", help="Another target, such as `sm_90a`.")] = None,
    emit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS", help="What to write, by commas: cu, ptx, cubin; beside each other if several."
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
        bool, typer.Option("--no-check", help="Build a spec that the check calls wrong, if it can be built.")
    ] = False,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Compile a spec to a cubin and print what the kernel needs; no GPU and no CUDA toolkit are used."""
    raise typer.Exit
