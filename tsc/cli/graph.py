"""`tsc graph`: the dependency graph of the resources."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tsc.cli.options import ArchOption, Defines, LanguageOption, Settings, SpecArgument, StdinName


class GraphFormat(StrEnum):
    """The language a graph is drawn in."""

    MERMAID = "mermaid"
    DOT = "dot"


def graph(
    spec: SpecArgument,
    format: Annotated[GraphFormat, typer.Option("--format", help="What draws it.")] = GraphFormat.MERMAID,
    arch: ArchOption = None,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Print the dependency graph: what each resource is made from, and by which task."""
    from tsc.cli.output import show
    from tsc.cli.specs import checked, overrides, resolved
    from tsc.cli.targets import first
    from tsc.report.graph import render

    report = checked(spec, overrides(defines, settings, arch), stdin_filename, lang)
    resolved(report)
    program = first(report)
    show(render(program, format.value))
