"""The device headers as the tests use them: compiled for a GPU by NVRTC, or as plain C++ and run here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tsc.resources import folder
from tsc.toolchain.nvrtc import Compiled, CompileOptions, compile_cuda

INCLUDE = folder("codegen") / "include"
HEADERS = {path.name: path.read_text(encoding="utf-8") for path in sorted(INCLUDE.glob("*.cuh"))}
ARCHS = ("sm_90a", "sm_100a")

COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
needs_cpp = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")


def includes(*names: str) -> str:
    return "".join(f'#include "{name}.cuh"\n' for name in names)


# Where there is a driver, NVRTC keeps what it has made, and what it finds again comes without a log.
OPTIONS = CompileOptions(extra=("--no-cache",))


@cache
def compiled(source: str, arch: str) -> Compiled:
    return compile_cuda(source, arch=arch, headers=HEADERS, options=OPTIONS)


def notes(log: str) -> list[str]:
    """What the log says beyond resource numbers: warnings of the compiler and of ptxas."""
    numbers = re.compile(r"\s*ptxas (info\s+)?[:.]|\s*$|ptxas\s+\.")
    return [line for line in log.replace("\0", "").splitlines() if not numbers.match(line)]


def run_cpp(source: str, stdin: str, folder: Path, flags: Sequence[str] = ()) -> list[str]:
    """Compile C++ against the headers, warnings being errors, run it and return the words it prints."""
    assert COMPILER is not None
    text, program = folder / "test.cpp", folder / "test"
    text.write_text(source, encoding="utf-8")
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    options = ["-std=c++20", "-O1", *warnings, *flags, f"-I{INCLUDE}"]
    command = [COMPILER, *options, str(text), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(program)], input=stdin, capture_output=True, text=True, check=True)
    return ran.stdout.split()
