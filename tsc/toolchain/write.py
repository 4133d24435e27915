"""Writes files whole or not at all: beside the target first, then put in its place in one step."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tsc.toolchain.errors import WriteError

STDOUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Output:
    """The bytes of one file; the path `-` stands for standard output."""

    path: str
    data: bytes


def write_outputs(outputs: Iterable[Output]) -> None:
    """Write several files: all lie whole on the disk before the first takes its place.

    Raises WriteError with one sentence. A device or a pipe is written to directly, after the files.
    """
    every = list(outputs)
    _refuse_repeated(every)
    staged: list[tuple[Path, Path, str]] = []
    streams: list[Output] = []
    try:
        for output in every:
            with _reasons(output.path):
                target = _target(output.path)
                if target is None:
                    streams.append(output)
                else:
                    staged.append((_stage(target, output.data), target, output.path))
        while staged:
            temporary, target, path = staged[0]
            with _reasons(path):
                temporary.replace(target)
            del staged[0]
        for output in streams:
            with _reasons(output.path):
                _pour(output)
    finally:
        for temporary, _, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_file(path: str, data: bytes) -> None:
    """Write one file, or nothing. Raises WriteError."""
    write_outputs([Output(path, data)])


def publish(target: Path, data: bytes) -> None:
    """Put a whole file in place in one step. Raises OSError, and then nothing has changed."""
    temporary = _stage(target, data)
    try:
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _refuse_repeated(outputs: list[Output]) -> None:
    seen: set[str] = set()
    for output in outputs:
        with _reasons(output.path):
            place = output.path if output.path == STDOUT else os.path.realpath(output.path)
        if place in seen:
            named = "standard output" if output.path == STDOUT else f"`{output.path}`"
            raise WriteError(f"two outputs go to {named}")
        seen.add(place)


def _target(path: str) -> Path | None:
    """The regular file to write, made or not, with links followed; None for a stream."""
    if path == STDOUT:
        return None
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return target if stat.S_ISREG(mode) else None


def _stage(target: Path, data: bytes) -> Path:
    """Write a file beside the target and flush it to the disk; nothing is left if that fails."""
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    # Not `mkstemp`: the file gets the rights of any new file, not those of a private one.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        try:
            _keep_rights(target, descriptor)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _keep_rights(target: Path, descriptor: int) -> None:
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _pour(output: Output) -> None:
    if output.path == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(output.data)
        sys.stdout.buffer.flush()
    else:
        with Path(output.path).open("wb") as stream:
            stream.write(output.data)


@contextlib.contextmanager
def _reasons(path: str) -> Iterator[None]:
    """Turn an error of the system into one sentence about the output."""
    named = "standard output" if path == STDOUT else f"`{path}`"
    try:
        yield
    except IsADirectoryError:
        raise WriteError(f"{named} cannot be written: it is a folder") from None
    except FileNotFoundError:
        folder = Path(path).parent
        raise WriteError(f"{named} cannot be written: the folder `{folder}` does not exist") from None
    except PermissionError:
        raise WriteError(f"{named} cannot be written: you may not write in `{Path(path).parent}`") from None
    except OSError as error:
        reasons = {errno.ENOSPC: "the disk is full", errno.EROFS: "the file system is read-only"}
        reason = reasons.get(error.errno or 0) or error.strerror or type(error).__name__
        raise WriteError(f"{named} cannot be written: {reason}") from None
    except ValueError as error:
        raise WriteError(f"{named} cannot be written: {error}") from None
