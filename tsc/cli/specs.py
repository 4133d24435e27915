"""From the spec named in a call to its program, for every command that takes a spec."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tsc.cli.exits import FAULT_OF_SPEC, fail
from tsc.cli.options import Language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsc.check import Proof, Report
    from tsc.diagnostics.model import Diagnostic
    from tsc.program.model import Program
    from tsc.source.document import Document
    from tsc.spec.overrides import Overrides

SUFFIXES = (".tsc.yaml", ".tsc.toml")


def expand(path: str) -> list[str]:
    """The specs that a path stands for: a file for itself, a folder for every spec below it, in order.

    Raises OSError for a folder that cannot be read or has no spec.
    """
    if not Path(path).is_dir():
        return [path]

    def refuse(error: OSError) -> None:
        raise error

    found = []
    for place, folders, files in os.walk(path, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [str(Path(place, name)) for name in sorted(files) if name.endswith(SUFFIXES)]
    if not found:
        raise FileNotFoundError(f"`{path}` has no `*.tsc.yaml` or `*.tsc.toml` in it")
    return found


def overrides(
    defines: list[str] | None, settings: list[str] | None, arch: list[str] | str | None = None
) -> Overrides:
    """What -D, --set and --arch change in a spec; targets from outside are checked like those in the spec."""
    from tsc.spec.overrides import UsageError, parse_overrides

    archs = [arch] if isinstance(arch, str) else list(dict.fromkeys(arch or ()))
    target = [f"target={archs[0]}"] if len(archs) == 1 else [f"target=[{', '.join(archs)}]"] if archs else []
    try:
        return parse_overrides(defines or [], [*(settings or []), *target])
    except UsageError as error:
        fail(str(error))


def checked(
    spec: str,
    changes: Overrides,
    stdin_name: str | None,
    language: Language | None,
    proof: Proof | None = None,
) -> Report:
    """What the check says about one spec, without a proof unless asked; one without text ends it."""
    from tsc.check import Proof, check_file
    from tsc.source import ReadError

    proof = proof or Proof(wanted=False)
    try:
        return check_file(spec, overrides=changes, stdin_name=stdin_name, language=language, proof=proof)
    except ReadError as error:
        fail(str(error))


def complain_about(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> None:
    """Show diagnostics on standard error, for commands whose output is something else."""
    from tsc.cli.output import in_color
    from tsc.diagnostics.render import text
    from tsc.rules.registry import RULES

    if diagnostics:
        sys.stderr.write(text.render(diagnostics, sources, RULES, color=in_color(sys.stderr)))


def resolved(report: Report, *, quiet: bool = True) -> Program:
    """The program of a spec, with errors or without; a spec that has none ends the command."""
    if report.program is None or not quiet:
        complain_about(report.diagnostics, report.sources)
    if report.program is None:
        raise typer.Exit(FAULT_OF_SPEC)
    return report.program


def clean(report: Report) -> Program:
    """The program of a spec without errors; anything else ends the command, and warnings are shown."""
    complain_about(report.diagnostics, report.sources)
    if report.program is None or report.exit_code("error"):
        raise typer.Exit(FAULT_OF_SPEC)
    return report.program


def named_alone(report: Report) -> Document:
    """The spec's text under its bare file name, so that what is made from it is the same in every folder."""
    if report.document is None:
        raise ValueError(f"`{report.name}` was not read")
    return replace(report.document, name=Path(report.name).name)


def in_spec(diagnostics: Sequence[Diagnostic], report: Report) -> list[Diagnostic]:
    """What the compiler says of a bare file name, at the file that the user named, less what it ignores."""
    from tsc.diagnostics.ignores import apply
    from tsc.rules.registry import RULES

    document = named_alone(report)
    return [replace(it, file=report.name) for it in apply(diagnostics, document, RULES).kept]


def cuda(
    report: Report, program: Program, *, headers: bool = True, line: bool = True, sanitize: bool = False
) -> str:
    """The CUDA of a program; one that cannot be generated ends the command."""
    from tsc.emit import NotGenerated, emit

    document = named_alone(report)
    works = {
        name: replace(work, text_name=document.name) if work.text_name == report.name else work
        for name, work in program.works.items()
    }
    try:
        return emit(
            replace(program, works=works), headers=headers, line=line, document=document, sanitize=sanitize
        )
    except NotGenerated as error:
        fail(str(error), FAULT_OF_SPEC)
