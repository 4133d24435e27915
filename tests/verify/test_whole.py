"""The whole way: a shipped kernel through the loader onto a driver in memory, by the commands themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.modules import ROOT

pytest.importorskip("cuda.bindings.nvrtc")
pytest.importorskip("numpy", reason="needs NumPy")

CASES = ("--case", "m=5,n=72", "--case", "m=0,n=8", "--case", "m=1000,n=1016")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `libcuda` that needs no GPU."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("stub_driver.c")
    options = ["-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", folder / "libcuda.so.1", source], check=True)
    return folder


def ran(driver: Path, mode: str, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"LD_LIBRARY_PATH": str(driver), "STUB": mode, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cubin = tmp_path_factory.mktemp("cubins") / "tma.cubin"
    spec = str(ROOT / "specs/copy/tma.tsc.yaml")
    done = subprocess.run(
        [sys.executable, "-m", "tsc", "verify", spec, "--prepare", str(cubin)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return cubin


def results(driver: Path, prepared: Path, mode: str) -> tuple[int, list[dict[str, Any]]]:
    out = prepared.with_name(f"{mode}.json")
    call = [str(prepared.parent), *CASES, "--timeout", "5", "--json", str(out)]
    done = ran(driver, mode, "tsc.verify.run", *call)
    assert done.stderr == ""
    (kernel,) = json.loads(out.read_text(encoding="utf-8"))["kernels"]
    assert (kernel["device"], kernel["library"], kernel["error"]) == ("Stub", "NumPy", None)
    return done.returncode, kernel["cases"]


@pytest.mark.parametrize(
    ("mode", "verdict", "fault"),
    [
        ("right", "ok", ""),
        ("beyond", "wrong", "memory round `y` was written, first 144 bytes after its beginning"),
        ("short", "wrong", "72 of 360 elements of `y` are not written, first [4, 0]"),
        ("crash", "fault", "the process that ran it ended with code -6"),
        ("hang", "hang", "ended after 5 s without an answer"),
        ("fail", "refused", "launch"),
    ],
)
def test_what_a_kernel_does_is_found(
    driver: Path, prepared: Path, mode: str, verdict: str, fault: str
) -> None:
    code, cases = results(driver, prepared, mode)
    assert code == int(verdict != "ok")
    assert [case["verdict"] for case in cases] == [verdict, "ok", verdict]
    faults = [*cases[0]["faults"], *(fault for one in cases[0]["outputs"] for fault in one["faults"])]
    assert any(fault in one for one in faults) if fault else not faults


def test_the_command_shows_a_table(driver: Path) -> None:
    done = ran(driver, "right", "tsc", "verify", "specs/copy/tma.tsc.yaml", *CASES)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "tma_copy: tma.tsc.yaml on Stub",
        "case              output  relative error  worst element  verdict",
        "6  m=5 n=72       y       0.00e+00                       ok",
        "7  m=0 n=8        y       no elements                    ok",
        "8  m=1000 n=1016  y       0.00e+00                       ok",
    ]
