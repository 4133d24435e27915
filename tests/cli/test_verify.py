"""`tsc verify` up to the process that has the GPU: what is built, chosen, written and said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tsc.cli.app import app
from tsc.runtime import driver
from tsc.runtime.errors import LoadError
from tsc.verify import supervise
from tsc.verify.plan import from_json
from tsc.verify.results import CaseResult, OutputResult, Results

pytest.importorskip("cuda.bindings.nvrtc")

SPEC = """\
tsc: 1
kernel: scale
target: sm_90a
constants: {WARPS: 4}
params:
  x: {dtype: f32, shape: [n]}
  y: {dtype: f32, shape: [n]}
  alpha: {dtype: f32}
launch: {grid: ["cdiv(n, 32 * WARPS)"]}
resources: {}
work:
  put:
    reads: [x]
    writes: [y]
    cuda: |
      const int i = blockIdx.x * 32 * WARPS + task.thread;
      if (i < n) y(i) = alpha * x(i);
tasks:
  scale: {warps: WARPS, schedule: [{do: put}]}
verify:
  reference: {y: alpha * x}
  cases: [{n: 1, alpha: 0.5}, {n: 1000, alpha: 2}]
"""

RIGHT = CaseResult(1, {"n": 1}, "ok", (OutputResult("y", 1),))
WRONG = CaseResult(2, {"n": 2}, "wrong", (OutputResult("y", 2, faults=("it is off",)),))


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TSC_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "scale.tsc.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A GPU that finds every case right; what it was asked."""
    found: list[dict[str, Any]] = []

    def instead(cubin: Path, plan: Path, **more: Any) -> tuple[Results, int]:
        read = from_json(plan.read_text(encoding="utf-8"))
        found.append({"image": cubin.read_bytes(), "plan": read, **more})
        return Results("scale", more["spec"], str(cubin), (RIGHT,), "a GPU"), 0

    monkeypatch.setattr(driver, "connect", lambda: None)
    monkeypatch.setattr(supervise, "supervise", instead)
    return found


def ran(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def test_all_cases_are_run(spec: Path, calls: list[dict[str, Any]]) -> None:
    result = ran(spec, "--seed", 3)
    assert result.exit_code == 0, result.output
    (call,) = calls
    assert call["image"][:4] == b"\x7fELF"
    assert (call["choices"], call["seed"], call["spec"]) == ([], 3, "scale.tsc.yaml")
    assert call["plan"].reference == {"y": "alpha * x"}
    assert result.output.startswith("scale: scale.tsc.yaml on a GPU\ncase")


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        (["--case", "2"], ["2"]),
        (["--case", "n=5,alpha=1e-3", "--case", "1"], ["n=5,alpha=1e-3", "1"]),
        (["-D", "n=77"], ["n=77"]),
        (["-D", "n=77", "-D", "alpha=0.25"], ["n=77,alpha=0.25"]),
        (["-D", "WARPS=2"], []),
        (["-D", "WARPS=2", "-D", "n=9"], ["n=9"]),
    ],
)
def test_cases_are_chosen(
    spec: Path, calls: list[dict[str, Any]], options: list[str], choices: list[str]
) -> None:
    result = ran(spec, *options)
    assert result.exit_code == 0, result.output
    assert calls[0]["choices"] == choices


def test_a_constant_is_built_in(spec: Path, calls: list[dict[str, Any]]) -> None:
    from tsc.artifact.manifest import read_manifest

    assert ran(spec, "-D", "WARPS=2", "-D", "n=64", "-D", "alpha=3", "--fix").exit_code == 0
    manifest = read_manifest(calls[0]["image"])
    assert manifest.block == (64, 1, 1) and manifest.constants["n"] == 64


def test_a_cubin_is_taken(spec: Path, calls: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "k.cubin").write_bytes(b"bytes")
    assert ran(spec, "--cubin", tmp_path / "k.cubin").exit_code == 0
    assert calls[0]["image"] == b"bytes"
    missing = ran(spec, "--cubin", tmp_path / "none.cubin")
    assert missing.exit_code == 2 and "none.cubin` cannot be read: No such file" in missing.output


def test_a_wrong_case_is_the_exit_code(
    spec: Path, calls: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Results("scale", "s", "k", (RIGHT, WRONG), "a GPU")
    monkeypatch.setattr(supervise, "supervise", lambda *_, **__: (found, 0))
    result = ran(spec)
    assert result.exit_code == 1 and "case 2: it is off" in result.output
    told = ran(spec, "--format", "json")
    assert told.exit_code == 1 and [case["verdict"] for case in json.loads(told.output)["cases"]] == [
        "ok",
        "wrong",
    ]


def test_no_gpu_is_one_sentence(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise LoadError("there is no CUDA driver on this machine")

    monkeypatch.setattr(driver, "connect", none)
    result = ran(spec)
    assert result.exit_code == 3
    (line,) = result.output.splitlines()
    assert line.startswith("tsc: there is no CUDA driver on this machine; `--prepare` writes")


def test_an_error_of_the_process_is_one_sentence(
    spec: Path, calls: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Results("scale", "s", "k", error="neither PyTorch nor NumPy is installed")
    monkeypatch.setattr(supervise, "supervise", lambda *_, **__: (found, 3))
    result = ran(spec)
    assert (result.exit_code, result.output) == (3, "tsc: neither PyTorch nor NumPy is installed\n")


def test_what_a_gpu_machine_needs_is_written(spec: Path, tmp_path: Path) -> None:
    target = tmp_path / "k.cubin"
    result = ran(spec, "--prepare", target)
    assert result.exit_code == 0, result.output
    assert target.read_bytes()[:4] == b"\x7fELF"
    plan = from_json((tmp_path / "k.plan.json").read_text(encoding="utf-8"))
    assert plan.cases == ({"n": 1, "alpha": 0.5}, {"n": 1000, "alpha": 2})
    assert ran(spec, "--prepare", tmp_path / "k").exit_code == 2
    (tmp_path / "out").mkdir()
    assert ran(spec, "--prepare", tmp_path / "out").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["scale.cubin", "scale.plan.json"]
    assert ran(spec, "--prepare", target, "--cubin", target).exit_code == 2


def test_what_is_written_has_the_cases_that_the_call_chooses(spec: Path, tmp_path: Path) -> None:
    result = ran(spec, "--prepare", tmp_path / "k.cubin", "--case", "2", "--case", "n=7")
    assert result.exit_code == 0, result.output
    plan = from_json((tmp_path / "k.plan.json").read_text(encoding="utf-8"))
    assert plan.cases == ({"n": 1000, "alpha": 2}, {"n": 7, "alpha": 0.5})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (["-D", "m=8"], "the kernel takes no `m`; its sizes and numbers are `n` and `alpha`"),
        (["--cubin", "none.cubin"], "`none.cubin` cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_call_is_refused_where_there_is_no_gpu(spec: Path, call: list[str], sentence: str) -> None:
    result = ran(spec, *call)
    assert (result.exit_code, result.output) == (2, f"tsc: {sentence}\n")


def test_a_cubin_is_no_spec() -> None:
    result = ran("k.cubin")
    assert (result.exit_code, result.output) == (
        2,
        "tsc: `k.cubin` is a cubin: write `tsc verify SPEC --cubin k.cubin`, or "
        "`python -m tsc.verify.run k.cubin`\n",
    )


def test_python_travels_with_the_plan(spec: Path, tmp_path: Path) -> None:
    text = SPEC.replace("reference: {y: alpha * x}", "python: scale.py:wanted")
    spec.write_text(text, encoding="utf-8")
    target = tmp_path / "k.cubin"
    missing = ran(spec, "--prepare", target)
    assert missing.exit_code == 1 and "`scale.py` cannot be read" in missing.output
    code = "def wanted(x, alpha):\n    return {'y': alpha * x}\n"
    (tmp_path / "scale.py").write_text(code, encoding="utf-8")
    assert ran(spec, "--prepare", target).exit_code == 0
    function = from_json((tmp_path / "k.plan.json").read_text(encoding="utf-8")).python
    assert function is not None and (function.function, function.text) == ("wanted", code)


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--case", "3"], 2, "there is no case 3"),
        (["--case", "foo=3"], 2, "the kernel takes no `foo`"),
        (["-D", "foo=3"], 2, "the kernel takes no `foo`"),
        (["--case", "n"], 2, "`n` is no value of a case"),
        (["-D", "n=x"], 2, "`n=x` is no value of a case"),
        (["--set", "verify.reference.y=blub(x)"], 1, "TSC190[unreadable-reference]"),
        (["--set", "verify={}"], 1, "does not say what its kernel computes"),
        (["--set", "verify.cases=[]"], 2, "has no `verify.cases`"),
    ],
)
def test_a_wrong_call_ends_before_a_build(
    spec: Path, calls: list[dict[str, Any]], options: list[str], code: int, sentence: str
) -> None:
    result = ran(spec, *options)
    assert result.exit_code == code and sentence in result.output
    assert calls == []
