"""How text leaves a command: on standard output, or in a file that is whole or absent."""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from tsc.cli.exits import OutputError


def to_json(value: object) -> str:
    """The one form of all JSON that the commands print: indented, in the order given, with a line end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def show(content: str | bytes) -> None:
    """Write to standard output; a reader that stopped reading is no error: `tsc rules | head` is quiet."""
    try:
        if isinstance(content, str):
            sys.stdout.write(content)
        else:
            sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, and would then complain about the same pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise OutputError(f"standard output takes no more: {error.strerror}") from error


def in_color(stream: TextIO) -> bool:
    """Whether text on a stream is coloured where the call does not say: on a terminal without NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def deliver(content: str | bytes, target: str) -> None:
    """Write to the file `target`, whole or not at all, or to standard output where it is `-`."""
    if target == "-":
        show(content)
        return
    from tsc.toolchain.errors import WriteError
    from tsc.toolchain.write import write_file

    try:
        write_file(
            target, content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        )
    except WriteError as error:
        raise OutputError(str(error)) from error
