"""`tsc table`: all tasks side by side, the register budget, and the map of memory."""

from __future__ import annotations

from tsc.cli.options import (
    ArchOption,
    Defines,
    FormatOption,
    LanguageOption,
    Settings,
    SpecArgument,
    StdinName,
    TextOrJson,
)


def table(
    spec: SpecArgument,
    format: FormatOption = TextOrJson.TEXT,
    arch: ArchOption = None,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Print the schedule table, all tasks side by side, with the register budget and the memory map."""
    from tsc.cli.output import show
    from tsc.cli.specs import checked, overrides, resolved
    from tsc.cli.targets import first
    from tsc.report.table import render_json, render_text

    report = checked(spec, overrides(defines, settings, arch), stdin_filename, lang)
    resolved(report)
    program = first(report)
    show(render_json(program) if format is TextOrJson.JSON else render_text(program))
