"""The frame of the commands: versions, help, and how each way of failing ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.modules import ROOT
from tsc.version import VERSION

FULL = Path("/dev/full")


def tsc(*arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process, after some code that breaks a part of it."""
    code = f"import sys\nsys.argv[1:] = {list(arguments)!r}\n{before}\nfrom tsc.cli import main\nmain()"
    env = {name: value for name, value in os.environ.items() if not name.startswith("TSC_")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=env | environment, capture_output=True, text=True, check=False
    )


def breaking(error: str) -> str:
    """Code that makes `tsc rules` meet an error."""
    return (
        "import types\n"
        "class Rules(types.ModuleType):\n"
        f"    def __getattr__(self, name):\n        raise {error}\n"
        "sys.modules['tsc.rules.registry'] = Rules('registry')"
    )


def test_version_names_what_is_installed() -> None:
    done = tsc("--version")
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == ["tsc", "nvrtc", "cuda-bindings"]
    assert done.stdout.startswith(f"tsc {VERSION}\n")


def test_version_says_what_is_not_installed() -> None:
    missing = (
        "from importlib import metadata\n"
        "def version(name):\n    raise metadata.PackageNotFoundError(name)\n"
        "metadata.version = version"
    )
    assert tsc("--version", before=missing).stdout.endswith(
        "nvrtc not installed\ncuda-bindings not installed\n"
    )


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_both_spellings(flag: str) -> None:
    done = tsc("check", flag)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: tsc check ")


@pytest.mark.parametrize(
    "arguments", [[], ["no-such"], ["check"], ["check", "--no-such"], ["rules", "--format", "x"]]
)
def test_misuse_exits_with_2(arguments: list[str]) -> None:
    done = tsc(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_fault_of_the_tool_is_one_sentence() -> None:
    done = tsc("rules", before=breaking("KeyError('ring')"))
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr == (
        "tsc: a fault of tsc itself, not of your call: KeyError: 'ring'; report it with the spec and the "
        "output of `tsc --version` (TSC_TRACEBACK=1 shows the traceback)\n"
    )


def test_a_fault_of_the_tool_shows_its_traceback_on_demand() -> None:
    done = tsc("rules", before=breaking("KeyError('ring')"), TSC_TRACEBACK="1")
    assert done.returncode == 3
    assert "Traceback (most recent call last)" in done.stderr


def test_ctrl_c_exits_with_130_and_says_nothing() -> None:
    done = tsc("rules", before=breaking("KeyboardInterrupt"))
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "tsc", "rules"]
        done = subprocess.run(
            command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this machine")
def test_a_full_disk_is_one_sentence() -> None:
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "tsc", "rules"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "tsc: standard output takes no more: No space left on device\n",
    )


def test_a_terminal_without_unicode_gets_the_message() -> None:
    done = tsc("explain", "größe", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert "`gr\\xf6\\xdfe`" in done.stderr
