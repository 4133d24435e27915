"""What importing and loading cost, and what they end in without a driver: each in a process of its own."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import tsc
from tests.runtime.cubins import cubin

ROOT = Path(__file__).resolve().parents[2]


def output_of(code: str, *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.stderr == ""
    assert run.returncode == 0
    return run.stdout.strip()


def test_import_is_light() -> None:
    loaded = output_of("import sys, tsc; print(tsc.__version__, *sys.modules)").split()
    assert loaded[0] == tsc.__version__
    roots = {name.partition(".")[0] for name in loaded}
    assert roots & {"cuda", "numpy", "pydantic", "jinja2", "yaml", "typer", "ctypes"} == set()
    assert {name for name in loaded if name.startswith("tsc.")} == {"tsc.version"}


LOAD = """
import sys, tsc
try:
    tsc.load(sys.argv[1])
except tsc.LoadError as error:
    print(type(error).__name__, error)
    try:
        tsc.load(sys.argv[1])
    except tsc.LoadError as again:
        print(str(error) == str(again))
heavy = {name.partition(".")[0] for name in sys.modules}
print(sorted(heavy & {"numpy", "pydantic", "jinja2", "yaml", "typer", "rich", "tree_sitter"}))
print(sorted(name for name in sys.modules if name.startswith("tsc.") and name.count(".") == 1))
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    pytest.importorskip("cuda.bindings.nvrtc")
    path = tmp_path / "scale.cubin"
    path.write_bytes(cubin())
    return str(path)


def test_loading_needs_the_bindings_alone(path: str) -> None:
    *_, heavy, own = output_of(LOAD, path).splitlines()
    assert heavy == "[]"
    assert own == "['tsc.artifact', 'tsc.expr', 'tsc.runtime']"


def test_without_a_driver_it_fails_at_once_with_one_sentence(path: str) -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        pytest.skip("this machine has a CUDA driver")
    assert output_of(LOAD, path).splitlines()[:2] == [
        "LoadError there is no CUDA driver on this machine (libcuda is not found), and a kernel needs one to "
        "run; "
        "`tsc inspect` reads a cubin without",
        "True",
    ]


def test_the_public_names() -> None:
    assert tsc.__all__ == ["LaunchError", "LoadError", "__version__", "load"]
    assert set(tsc.__all__) <= set(dir(tsc))
    assert tsc.load.__module__ == "tsc.runtime.load"
    with pytest.raises(AttributeError) as refusal:
        attrgetter("lod")(tsc)
    assert str(refusal.value) == "module `tsc` has no attribute `lod`"
