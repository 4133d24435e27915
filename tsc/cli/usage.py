"""How the help of a command writes its arguments: `SPEC...`, and no types, which their help tells."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_BRACES = re.compile(r"^\{(.*)\}$")
_REPEATED = re.compile(r"\.\.\.(\}|\])\.\.\.$")
_TYPED = re.compile(r"^([A-Z][A-Z.]*) <.*>$")


class Command(TyperCommand):
    """A command whose usage reads as a manual's does."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line without braces round what is required, and each repetition said once."""
        pieces = (_REPEATED.sub(r"...\1", piece) for piece in super().collect_usage_pieces(ctx))
        return [_BRACES.sub(r"\1", piece) for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The lists of arguments and options, the arguments by their names alone."""
        write = formatter.write_dl

        def by_name(rows: Any, *args: Any, **options: Any) -> None:
            write([(_TYPED.sub(r"\1", name), help) for name, help in rows], *args, **options)

        formatter.write_dl = by_name
        super().format_options(ctx, formatter)
