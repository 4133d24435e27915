"""The commands under one name, and the last line of defence: no input ends in a traceback."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from tsc.cli import (
    bench,
    build,
    check,
    emit,
    explain,
    graph,
    inspect,
    rules,
    schema,
    table,
    tiles,
    tree,
    tune,
    verify,
)
from tsc.cli.exits import FAULT_OF_TOOL, OutputError, complain
from tsc.cli.quick import quicken
from tsc.cli.usage import Command


class _Commands(TyperGroup):
    """The commands, whose options are refused in words of their own alone."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Pydantic, which Typer asks, begins a refusal with the exception's name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    name="tsc",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # help is plain text: routes have brackets that a markup would eat
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    check.check,
    tree.tree,
    table.table,
    graph.graph,
    tiles.tiles,
    emit.emit,
    build.build,
    verify.verify,
    bench.bench,
    tune.tune,
    inspect.inspect,
    explain.explain,
    rules.rules,
    schema.schema,
):
    app.command(cls=Command)(command)


def _show_versions(wanted: bool) -> None:
    if not wanted:
        return
    from importlib import metadata

    from tsc.version import VERSION

    typer.echo(f"tsc {VERSION}")
    for title, distribution in (("nvrtc", "nvidia-cuda-nvrtc"), ("cuda-bindings", "cuda-bindings")):
        try:
            typer.echo(f"{title} {metadata.version(distribution)}")
        except metadata.PackageNotFoundError:
            typer.echo(f"{title} not installed")
    raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", is_eager=True, callback=_show_versions, help="Show what is installed."
        ),
    ] = False,
) -> None:
    """Check GPU task schedules and compile them to cubins.

    Exit codes: 0 all is well, 1 the spec is at fault, 2 the call is, 3 the toolchain is.
    """


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode gets every message too
    try:
        app(prog_name="tsc")
        code = 0
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0
    except KeyboardInterrupt:
        code = 130
    except OutputError as error:
        code = complain(str(error))
    except Exception as error:
        if os.environ.get("TSC_TRACEBACK") == "1":
            from traceback import print_exc

            print_exc()
        complain(
            f"a fault of tsc itself, not of your call: {type(error).__name__}: {error}; report it with the "
            "spec and the output of `tsc --version` (TSC_TRACEBACK=1 shows the traceback)"
        )
        code = FAULT_OF_TOOL
    sys.exit(code)


def run() -> NoReturn:
    """Run `main` as a whole process that begins and ends quickly: clean-up takes longer than a check."""
    # Plugins of other packages have no say in the language, and looking for them takes 20 ms.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # What a command makes it keeps until it ends, so that collecting early finds nothing.
    gc.set_threshold(200_000)
    quicken()
    try:
        main()
    except SystemExit as done:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(done.code if isinstance(done.code, int) else 0)
