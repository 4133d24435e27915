"""Exit codes, and how a command ends with a sentence."""

from __future__ import annotations

import sys
from typing import Final, NoReturn

import typer

FAULT_OF_SPEC: Final = 1
FAULT_OF_CALL: Final = 2
FAULT_OF_TOOL: Final = 3


class OutputError(Exception):
    """What was to be shown or written cannot be; the text is the sentence for the user."""


def complain(sentence: str) -> int:
    """Say one sentence on standard error; returns the exit code of a call at fault."""
    print(f"tsc: {sentence}", file=sys.stderr)
    return FAULT_OF_CALL


def fail(sentence: str, code: int = FAULT_OF_CALL) -> NoReturn:
    """Say one sentence on standard error and end the command."""
    complain(sentence)
    raise typer.Exit(code)
