"""`tsc.bench.run`: requests to a worker and what becomes of its answers."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.house.modules import ROOT
from tsc.bench import run
from tsc.verify.plan import from_json

WORKER = """
import os, sys, time
sys.path.insert(0, {root!r})
from tsc.bench.watch import serve

def answer(request, say):
    say({{"at": "gemm"}})
    {body}

serve(answer)
"""


def bench(body: str) -> dict[str, Any]:
    command = [sys.executable, "-c", textwrap.dedent(WORKER.format(root=str(ROOT), body=body))]
    length = run.Length(turns=3)
    return run.bench(Path("g.cubin"), "{}", {"m": 8}, ["cublas"], length, command=command, silence=1.0)


def test_the_result_of_the_worker_is_given() -> None:
    result = bench('say({"result": request})')
    assert result["cubin"] == "g.cubin"
    assert (result["case"], result["against"], result["turns"], result["load"]) == (
        {"m": 8},
        ["cublas"],
        3,
        2.0,
    )


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('say({"error": "no GPU"})', "no GPU"),
        ("os._exit(1)", "the process that runs the kernels is lost at `gemm`: the process ends with code 1"),
        ("time.sleep(60)", "the process that runs the kernels is lost at `gemm`: nothing is heard for 1 s"),
        ("pass", "the process that runs the kernels gives no result"),
    ],
)
def test_what_goes_wrong_is_one_sentence(body: str, sentence: str) -> None:
    with pytest.raises(run.BenchError) as error:
        bench(body)
    assert str(error.value) == sentence


def test_sizes_and_numbers() -> None:
    assert run.case_of(["m=8192", "k = 0x10", "eps=1e-6"]) == {"m": 8192, "k": 16, "eps": 1e-6}
    for wrong in ("m", "m=many", "2=3", "=4"):
        with pytest.raises(run.BenchError, match="has not the form `-D NAME=NUMBER`"):
            run.case_of([wrong])


def test_the_plan_beside_a_cubin_is_read(tmp_path: Path) -> None:
    cubin = tmp_path / "g.cubin"
    assert from_json(run.plan_of(cubin, None)).reference == {}
    (tmp_path / "g.plan.json").write_text("{}")
    assert run.plan_of(cubin, None) == "{}"
    with pytest.raises(run.BenchError, match="cannot be read"):
        run.plan_of(cubin, tmp_path / "gone.json")


def test_a_wrong_call_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["g.cubin", "-D", "m"]) == 2
    assert capsys.readouterr().err.startswith("tsc: `-D m` has not the form")


ALONE = """
import sys
for name in ("pydantic", "typer", "jinja2", "yaml", "rich", "numpy", "torch", "tree_sitter"):
    sys.modules[name] = None
import tsc.bench.run, tsc.bench.worker, tsc.tune.measure, tsc.tune.worker
"""


def test_what_measures_needs_no_compiler() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
