"""`tsc inspect`: what a cubin was built from and how it is launched."""

from __future__ import annotations

from typing import Annotated

import typer

from tsc.cli.options import FormatOption, TextOrJson


def inspect(
    cubin: Annotated[str, typer.Argument(metavar="CUBIN", help="A cubin that `tsc build` wrote.")],
    format: FormatOption = TextOrJson.TEXT,
) -> None:
    """Show the launch facts of a cubin and what its code needs; no GPU and no driver are asked."""
    from tsc.artifact.elf import read_file
    from tsc.artifact.error import ArtifactError
    from tsc.artifact.inspect import inspect as read
    from tsc.cli.exits import fail
    from tsc.cli.output import show

    try:
        data = read_file(cubin)
    except ArtifactError as error:
        fail(str(error))
    try:
        facts = read(data)
    except ArtifactError as error:
        fail(f"`{cubin}`: {error}")
    show(facts.to_json() + "\n" if format is TextOrJson.JSON else facts.to_text())
