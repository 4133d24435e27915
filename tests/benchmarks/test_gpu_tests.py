"""What ran on a GPU: nothing failed, nothing is left out; and `make` builds all that the tests ask for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu_tests
from benchmarks.gpu_tests_on_gpu import ASKING, COMPILING, NOT_RUN, failures, judged, unfinished
from tests import ready

RESULTS = ready.ROOT / "benchmarks" / "results" / "gpu_tests.json"
CASES = [path.name.removesuffix(".tsc.yaml") for path in (ready.ROOT / "tests/emit/cases").glob("*.tsc.yaml")]
SPECS = [spec.replace("/", "_") for spec in gpu_tests.hopper_specs()]


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    if not RESULTS.exists():
        pytest.skip("benchmarks/results/gpu_tests.json has not been measured yet")
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def test_every_file_with_gpu_tests_is_run_or_named() -> None:
    marked = {
        path.relative_to(ready.ROOT).as_posix()
        for path in (ready.ROOT / "tests").rglob("test_*.py")
        if "pytest.mark." + "gpu\n" in path.read_text(encoding="utf-8")
    }
    assert marked == {*ASKING, *COMPILING, *NOT_RUN}


def test_what_the_tests_ask_for_is_found(tmp_path: Path) -> None:
    assert "TSC_CUBINS" not in os.environ
    asked = gpu_tests.asked_for(tmp_path)
    assert sorted(name[6:] for name in asked if name.startswith("cases/")) == sorted(CASES)
    shipped = {it.spec.replace("/", "_") for it in asked.values() if isinstance(it, ready.Shipped)}
    assert shipped == set(SPECS)
    assert any(name.startswith("proved/") for name in asked)
    assert any(name.startswith("loader/") for name in asked)


@pytest.mark.parametrize("spec", gpu_tests.hopper_specs())
def test_a_sanitizer_has_sizes_for_it(spec: str) -> None:
    cases = json.loads(gpu_tests.plan_text(spec))["cases"]
    assert cases
    assert max(case.get("k", 0) for case in cases) < 2000


def test_what_tools_say_is_read() -> None:
    clean = "========= COMPUTE-SANITIZER\nRIGHT\n========= ERROR SUMMARY: 0 errors\n"
    assert judged("memcheck", clean, "") == {"found": 0, "right": True}
    hazard = (
        "========= Error: Race reported between Write access at k+0x10\nWRONG lanes 3\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    row = judged("racecheck", hazard, "")
    assert row == {
        "found": 1,
        "right": False,
        "wrong": "lanes 3",
        "said": ["Error: Race reported between Write access at k+0x10"],
    }
    assert failures({"racecheck": {"lanes": row}}) == ["racecheck lanes: 1 found", "racecheck lanes: lanes 3"]
    died = judged("memcheck", "Traceback\nImportError: x\n", "")
    assert unfinished({"memcheck": {"lanes": died}}) == ["memcheck lanes: ImportError: x"]


def test_nothing_failed(result: dict[str, Any]) -> None:
    assert failures(result) == []
    assert unfinished({"memcheck": result["memcheck"]}) == []


def test_every_file_was_run(result: dict[str, Any]) -> None:
    assert sorted(result["tests"]) == sorted((*ASKING, *COMPILING))
    assert [file for file, row in result["tests"].items() if not row["passed"]] == []
    assert result["not run"] == NOT_RUN


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_every_kernel_was_under(result: dict[str, Any], tool: str) -> None:
    wanted = {*(f"cases/{name}" for name in CASES), *(f"specs/{name}" for name in SPECS)}
    assert set(result[tool]) == wanted
