"""`tsc graph`: the dependency graph of the resources."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tsc.cli.options import Defines, LanguageOption, Settings, SpecArgument, StdinName


class GraphFormat(StrEnum):
    """The language a graph is drawn in."""

    MERMAID = "mermaid"
    DOT = "dot"


def graph(
    spec: SpecArgument,
    format: Annotated[GraphFormat, typer.Option("--format", help="What draws it.")] = GraphFormat.MERMAID,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Print the dependency graph: what each resource is made from, and by which task."""
    from tsc.cli.output import show
    from tsc.cli.specs import checked, overrides, resolved
    from tsc.report.graph import render

    program = resolved(checked(spec, overrides(defines, settings), stdin_filename, lang))
    show(render(program, format.value))
