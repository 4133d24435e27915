"""The README keeps its word: its commands exist, run, and print what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.modules import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def help_of() -> dict[str, str]:
    """The help of every command by its name; the whole command's is under the empty one."""

    def ask(name: str) -> str:
        command = [sys.executable, "-m", "tsc", *name.split(), "--help"]
        env = os.environ | {"COLUMNS": "120"}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout

    commands = re.findall(r"^  (\w+) ", ask("").partition("Commands:")[2], re.MULTILINE)
    return {name: ask(name) for name in ["", *commands]}


def sessions() -> list[tuple[str, str]]:
    """Each command of the README's console blocks with the output shown below it."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether a shown output is what was printed; a line `...` stands for any lines."""
    pattern = re.escape(shown).replace(re.escape("...") + "\\\n", "(?:.*\n)*?")
    return re.fullmatch(pattern, printed) is not None


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the specs and a command `tsc`."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tsc"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tsc "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=[command for command, _ in sessions()])
def test_a_command_prints_what_is_shown(
    command: str, shown: str, place: Path, request: pytest.FixtureRequest
) -> None:
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "TSC_CACHE_DIR": str(place / "cache"), "NO_COLOR": "1"}
    bash = ["bash", "-c", command]
    done = subprocess.run(
        bash, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if request.config.getoption("--update-golden") and not matches(shown, done.stdout):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{done.stdout}")
        (ROOT / "README.md").write_text(text, encoding="utf-8")
        return
    assert matches(shown, done.stdout), done.stdout


def test_a_wrong_output_is_found() -> None:
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert not matches("a\n...\nz\n", "a\nb\nc\n")
    assert not matches("a.c\n", "abc\n")


def test_shown_schedule_is_the_spec() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown in (ROOT / "specs/copy/tma.tsc.yaml").read_text(encoding="utf-8")


@pytest.mark.gpu
@pytest.mark.parametrize("block", re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
def test_python_runs(block: str, place: Path) -> None:
    for name in re.findall(r"(\w+)\.cubin", block):
        command = [place / "bin" / "tsc", "build", f"specs/copy/{name}.tsc.yaml", "-o", f"{name}.cubin"]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", block], cwd=place, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_is_in_the_table_and_no_other(help_of: dict[str, str]) -> None:
    assert sorted(re.findall(r"^\| `tsc (\w+)", README, re.MULTILINE)) == sorted(filter(None, help_of))


def test_every_option_exists(help_of: dict[str, str]) -> None:
    wrong = []
    for line in re.findall(r"\btsc \w+[^`\n|&]*", README):
        words = shlex.split(line, comments=True)
        known = help_of.get(words[1], "")
        wrong += [
            f"{words[1]} {o}" for o in words[2:] if re.match(r"--?\w", o) and o.split("=")[0] not in known
        ]
    assert wrong == []


@pytest.mark.parametrize(("name", "needed"), [("install", "specs/copy/tma.tsc.yaml"), ("test", "pytest")])
def test_ci_runs_the_command(name: str, needed: str) -> None:
    (command,) = re.findall(rf"^<!-- {name} -->\n```sh\n(.*)\n```$", README, re.MULTILINE)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extract = script[script.index("command_of() {") : script.index("\nfor name")]
    done = subprocess.run(
        ["bash", "-c", f"{extract}\ncommand_of {name}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == f"{command}\n"
    assert needed in command
    assert "for name in install test; do" in script
