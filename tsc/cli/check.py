"""`tsc check`: everything that is wrong with specs."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.options import AllowUnproven, Budget, Defines, LanguageOption, Settings, StdinName, split

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
    allow_unproven: AllowUnproven = False,
    budget: Budget = None,
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a run, of what is wrong if anything is, as a Chrome trace for Perfetto.",
        ),
    ] = None,
    color: Annotated[Color, typer.Option(help="When text is coloured.")] = Color.AUTO,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Check specs, say everything that is wrong with them, and prove that their schedules are right.

    Exits with 1 where something is, except with `--format sarif`, as upload steps expect.
    """
    from tsc.check import Proof, check_file, unknown_choices
    from tsc.check import select as choose
    from tsc.cli.exits import complain, fail
    from tsc.cli.output import deliver, in_color
    from tsc.cli.specs import expand, overrides
    from tsc.report import verdict
    from tsc.rules.registry import RULES
    from tsc.source import ReadError

    changes = overrides(defines, settings)
    chosen, left_out = split(select), split(ignore)
    for word in unknown_choices([*chosen, *left_out]):
        fail(f"no rule has the code or the name `{word}`; `tsc rules` lists them")
    proof = Proof(budget=budget, allow_unproven=allow_unproven)
    reports: dict[str, Report] = {}
    code = 0
    for given in specs:
        try:
            for path in expand(given):
                place = os.path.realpath(path)
                if place not in reports:
                    report = check_file(
                        path, overrides=changes, stdin_name=stdin_filename, language=lang, proof=proof
                    )
                    reports[place] = choose(report, chosen, left_out)
        except (ReadError, OSError) as error:
            code = complain(str(error))
    if not reports:
        raise typer.Exit(code)
    if trace is not None and len(reports) > 1:
        fail(f"`--trace` draws one spec, and {len(reports)} are checked")
    diagnostics = [diagnostic for report in reports.values() for diagnostic in report.diagnostics]
    sources = {name: text for report in reports.values() for name, text in report.sources.items()}
    renderer = import_module(f"tsc.diagnostics.render.{format}")
    options: dict[str, object] = {}
    if format is CheckFormat.TEXT:
        automatic = output_file == "-" and in_color(sys.stdout)
        options["color"] = automatic if color is Color.AUTO else color is Color.ALWAYS
    if format is CheckFormat.JSON:
        options["verdicts"] = list(filter(None, map(verdict.data, reports.values())))
    content = renderer.render(diagnostics, sources, RULES, **options)
    if format in (CheckFormat.TEXT, CheckFormat.CONCISE):
        content += "".join(map(verdict.line, reports.values()))
    deliver(content, output_file)
    if trace is not None:
        _trace(next(iter(reports.values())), trace)
    found = max(report.exit_code(fail_on) for report in reports.values())
    raise typer.Exit(code or (0 if exit_zero or format is CheckFormat.SARIF else found))


def _trace(report: Report, target: str) -> None:
    """Write the trace of a spec, if its schedule was looked at."""
    from tsc.cli.exits import complain
    from tsc.cli.output import deliver
    from tsc.report.trace import chrome

    if report.judgement is None:
        complain(f"`{target}` is not written: the schedule is looked at when nothing else is wrong")
    else:
        deliver(chrome(report.judgement, report.document), target)
