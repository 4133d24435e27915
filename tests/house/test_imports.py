"""A check pays for nothing that it does not use, and the launcher for nothing that is not there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.house.modules import ROOT

LOADED = """
import json, sys
sys.argv[1:] = {arguments!r}
from tsc.cli import main
try:
    main()
except SystemExit as done:
    assert done.code == 0, done.code
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def loaded(code: str) -> set[str]:
    """The modules that are there after some code has run in a new process."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr))


def heavy(modules: set[str]) -> set[str]:
    names = {"cuda", "jinja2", "numpy", "rich", "tsc.emit.render", "tsc.toolchain", "tsc.runtime"}
    return {name for name in modules if any(name == h or name.startswith(f"{h}.") for h in names)}


@pytest.mark.parametrize(
    "call",
    [
        "check specs",
        "check --format json specs/copy/tma.tsc.yaml",
        "check --format sarif specs/copy/tma.tsc.yaml",
        "tree specs/copy/tma.tsc.yaml",
        "graph specs/copy/tma.tsc.yaml",
        "rules",
        "explain --all",
        "schema",
        "--version",
        "--help",
    ],
)
def test_command_stays_light(call: str) -> None:
    assert heavy(loaded(LOADED.format(arguments=call.split()))) == set()


@pytest.mark.parametrize("call", ["--help", "--version", "check --help"])
def test_help_does_not_load_the_language(call: str) -> None:
    modules = loaded(LOADED.format(arguments=call.split()))
    assert [name for name in modules if name.startswith(("tsc.spec", "tsc.program", "tsc.rules"))] == []


def test_tsc_itself_loads_nothing() -> None:
    bare = loaded("import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))")
    added = loaded("import json, sys, tsc; sys.stderr.write(json.dumps(sorted(sys.modules)))") - bare
    assert {name for name in added if name.partition(".")[0] not in sys.stdlib_module_names} == {"tsc"}


def test_launcher_needs_cuda_python_alone() -> None:
    # Only the standard library and cuda can be imported, as where nothing else is installed.
    code = """
import json, sys
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "cuda", "tsc"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gate())
import tsc
tsc.load, tsc.LoadError
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
    assert "tsc.runtime.load" in loaded(code)
