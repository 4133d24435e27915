"""`tsc check`: everything that is wrong with specs."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.options import Defines, LanguageOption, Settings, StdinName, split

if TYPE_CHECKING:
    from tsc.check import Report


class CheckFormat(StrEnum):
    """How findings are written."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


class FailOn(StrEnum):
    """The least severity that makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Color(StrEnum):
    """When text is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def check(
    specs: Annotated[
        list[str],
        typer.Argument(metavar="SPEC...", help="Specs; a folder is all below it, `-` is standard input."),
    ],
    format: Annotated[
        CheckFormat, typer.Option("--format", help="How findings are written.")
    ] = CheckFormat.TEXT,
    output_file: Annotated[
        str, typer.Option("--output-file", metavar="FILE", help="Where findings go; `-` is standard output.")
    ] = "-",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Only these codes, prefixes or names, by commas. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="None of these codes, prefixes or names, by commas. Repeatable."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="The least severity that makes the exit code 1.")
    ] = FailOn.ERROR,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")] = False,
    color: Annotated[Color, typer.Option(help="When text is coloured.")] = Color.AUTO,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Check specs and say everything that is wrong with them.

    Exits with 1 where something is, except with `--format sarif`, as upload steps expect.
    """
    from tsc.check import check_file, unknown_choices
    from tsc.check import select as choose
    from tsc.cli.exits import complain, fail
    from tsc.cli.output import deliver, in_color
    from tsc.cli.specs import expand, overrides
    from tsc.rules.registry import RULES
    from tsc.source import ReadError

    changes = overrides(defines, settings)
    chosen, left_out = split(select), split(ignore)
    for word in unknown_choices([*chosen, *left_out]):
        fail(f"no rule has the code or the name `{word}`; `tsc rules` lists them")
    reports: dict[str, Report] = {}
    code = 0
    for given in specs:
        try:
            for path in expand(given):
                place = os.path.realpath(path)
                if place not in reports:
                    report = check_file(path, overrides=changes, stdin_name=stdin_filename, language=lang)
                    reports[place] = choose(report, chosen, left_out)
        except (ReadError, OSError) as error:
            code = complain(str(error))
    if not reports:
        raise typer.Exit(code)
    diagnostics = [diagnostic for report in reports.values() for diagnostic in report.diagnostics]
    sources = {name: text for report in reports.values() for name, text in report.sources.items()}
    renderer = import_module(f"tsc.diagnostics.render.{format}")
    options = {}
    if format is CheckFormat.TEXT:
        automatic = output_file == "-" and in_color(sys.stdout)
        options["color"] = automatic if color is Color.AUTO else color is Color.ALWAYS
    deliver(renderer.render(diagnostics, sources, RULES, **options), output_file)
    found = max(report.exit_code(fail_on) for report in reports.values())
    raise typer.Exit(code or (0 if exit_zero or format is CheckFormat.SARIF else found))
