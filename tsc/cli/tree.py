"""`tsc tree`: the schedules as trees."""

from __future__ import annotations

from tsc.cli.options import (
    Defines,
    FormatOption,
    LanguageOption,
    Settings,
    SpecArgument,
    StdinName,
    TextOrJson,
)


def tree(
    spec: SpecArgument,
    format: FormatOption = TextOrJson.TEXT,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Print each task's schedule as a tree, with the routes of values and the steps that were derived."""
    from tsc.cli.output import show
    from tsc.cli.specs import checked, overrides, resolved
    from tsc.report.tree import render_json, render_text

    program = resolved(checked(spec, overrides(defines, settings), stdin_filename, lang))
    show(render_json(program) if format is TextOrJson.JSON else render_text(program))
