"""The worker's lines, the process round it, and the command that goes through a folder."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.manifests import tensor
from tests.verify.conftest import COPY, FakeKernel, copy, described
from tsc.runtime.errors import LoadError
from tsc.verify import run
from tsc.verify.arrays import Arrays
from tsc.verify.plan import Plan, to_json
from tsc.verify.results import CaseResult, OutputResult, Results, Worst, plain, read_plain, summary, table
from tsc.verify.supervise import supervise
from tsc.verify.worker import work

PLAN = Plan("scale", "scale.tsc.yaml", reference={"y": "x"}, cases=({"m": 3, "n": 4}, {"m": 1, "n": 9}))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "k.plan.json"
    path.write_text(to_json(PLAN), encoding="utf-8")
    return path


def lines(
    plan: Path, arrays: Any, body: Any, choices: tuple[str, ...] = (), **more: Any
) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    kernel = FakeKernel(described(params=COPY, arguments=[]), body)
    work(
        plan.with_name("k.cubin"), plan, choices, say=said.append,
        find_arrays=arrays if callable(arrays) else lambda: arrays, find_kernel=lambda path: kernel, **more,
    )  # fmt: skip
    sent: list[dict[str, Any]] = json.loads(json.dumps(said))
    return sent


def test_a_line_before_and_behind_each_case(plan: Path, arrays: Arrays) -> None:
    first, *rest = lines(plan, arrays, copy)
    assert (first["device"], first["kernel"]) == (arrays.device, "scale")
    assert first["cases"] == [[1, {"m": 3, "n": 4}], [2, {"m": 1, "n": 9}]]
    assert [next(iter(line)) for line in rest] == ["begin", "result", "begin", "result"]
    assert [line["result"]["verdict"] for line in rest[1::2]] == ["ok", "ok"]
    assert [line.get("begin") for line in lines(plan, arrays, copy, skip=1)[1:]] == [2, None]


def test_a_failure_of_the_device_ends_the_worker(plan: Path, arrays: Arrays) -> None:
    def body(x: Any, y: Any) -> None:
        raise RuntimeError("an illegal memory access was encountered\nand more")

    _, begin, last = lines(plan, arrays, body)
    assert begin == {"begin": 1} and last["result"]["verdict"] == "fault"
    assert last["result"]["faults"] == ["RuntimeError: an illegal memory access was encountered"]


def test_no_gpu_is_told(plan: Path) -> None:
    def none() -> Arrays:
        raise LoadError("there is no CUDA driver on this machine")

    assert lines(plan, none, copy) == [{"error": "there is no CUDA driver on this machine", "code": 3}]


def test_a_wrong_call_is_told(plan: Path, arrays: Arrays) -> None:
    (line,) = lines(plan, arrays, copy, ("9",))
    assert line["code"] == 2 and "there is no case 9" in line["error"]


RESULT = CaseResult(
    3,
    {"m": 4},
    "wrong",
    (
        OutputResult(
            "d", 16, True, float("nan"), Worst((1, 2), float("inf"), 2.0, float("inf")), ("a fault",)
        ),
    ),
    ("another",),
    ("a note",),
    False,
    1.5,
)


def test_results_come_back() -> None:
    back = read_plain(json.loads(json.dumps(plain(RESULT), allow_nan=False)))
    assert repr(back) == repr(RESULT)


def test_a_table_says_it_all() -> None:
    right = CaseResult(
        1, {"m": 1, "n": 8}, "ok", (OutputResult("d", 8, True, 1.23e-3, Worst((0, 1), 2.5, 2.0, 0.5)),)
    )
    empty = CaseResult(2, {"m": 0, "n": 8}, "ok", (OutputResult("d", 0),))
    results = Results("gemm", "gemm.tsc.yaml", "g.cubin", (right, empty, RESULT), "a GPU")
    assert table(results).splitlines() == [
        "gemm: gemm.tsc.yaml on a GPU",
        "case        output  relative error  worst element                           verdict",
        "1  m=1 n=8  d       1.23e-03        [0, 1] 2.5 for 2, 0.5 of the tolerance  ok",
        "2  m=0 n=8  d       no elements                                             ok",
        "3  m=4      d       nan             [1, 2] inf for 2, inf of the tolerance  wrong",
        "case 3: a fault",
        "case 3: another",
        "case 3: note: a note",
    ]
    assert not results.ok
    assert summary([results]) == "2 of 3 cases of 1 kernel are right\n"


WORKER = """
import json, os, sys, time
say = lambda line: print(json.dumps(line), flush=True)
skip = int(sys.argv[sys.argv.index("--skip") + 1])
print("a library greets", flush=True)
say({"device": "d", "library": "l", "kernel": "k", "cases": [[1, {"m": 1}], [2, {"m": 2}], [3, {"m": 3}]]})
for number in range(1 + skip, 4):
    say({"begin": number})
    exec(HOW.get(number, ""))
    say({"result": {"number": number, "case": {"m": number}, "verdict": "ok", "outputs": [], "faults": [],
                    "notes": [], "bit_equal": True, "seconds": 0}})
"""


def supervised(how: dict[int, str], timeout: float = 60.0, before: str = "") -> tuple[Results, int]:
    command = [sys.executable, "-c", f"HOW = {how!r}\n{before}\n{WORKER}"]
    return supervise(
        Path("k.cubin"), Path("k.plan.json"), kernel="k", spec="s", timeout=timeout, command=command
    )


def test_all_results_arrive() -> None:
    results, code = supervised({})
    assert [case.verdict for case in results.cases] == ["ok"] * 3
    assert (results.ok, code, results.device) == (True, 0, "d")


def test_a_crash_costs_its_case_alone() -> None:
    results, code = supervised({2: "sys.stderr.write('oh\\nno\\n'); sys.stderr.flush(); os._exit(7)"})
    assert [case.verdict for case in results.cases] == ["ok", "fault", "ok"]
    assert results.cases[1].faults == ("the process that ran it ended with code 7: no",)
    assert (results.ok, code) == (False, 0)


def test_a_hang_costs_its_case_alone() -> None:
    began = time.monotonic()
    results, _ = supervised({1: "time.sleep(600)"}, timeout=1.5)
    assert time.monotonic() - began < 60
    assert [case.verdict for case in results.cases] == ["hang", "ok", "ok"]
    assert results.cases[0].faults == (
        "the process that ran it ended after 1.5 s without an answer: it was stopped",
    )


def test_a_fault_that_was_told_goes_on_with_the_next_case() -> None:
    told = (
        "say({'result': {'number': 1, 'case': {}, 'verdict': 'fault', 'outputs': [], 'faults': ['x'],"
        " 'notes': [], 'bit_equal': None, 'seconds': 0}}); os._exit(0)"
    )
    results, _ = supervised({1: told})
    assert [case.verdict for case in results.cases] == ["fault", "ok", "ok"]


def test_a_process_that_never_begins_is_an_error() -> None:
    results, code = supervised({}, before="raise SystemExit('no library')")
    assert (results.cases, code) == ((), 3)
    assert results.error == "the process that runs the kernel ended with code 1: no library"


def test_an_error_of_the_worker_is_passed_on() -> None:
    results, code = supervised({}, before='print(\'{"error": "no GPU", "code": 3}\'); raise SystemExit')
    assert (results.error, code, results.ok) == ("no GPU", 3, False)


def test_a_folder_is_gone_through(
    tmp_path: Path, plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.with_name("k.cubin").write_bytes(b"")
    (tmp_path / "alone.cubin").write_bytes(b"")
    seen = []

    def instead(cubin: Path, plan: Path, **more: Any) -> tuple[Results, int]:
        seen.append((cubin.name, plan.name, more["choices"], more["seed"]))
        return Results("k", "s", str(cubin), (RESULT,)), 0

    monkeypatch.setattr(run, "supervise", instead)
    out = tmp_path / "out.json"
    assert run.main([str(tmp_path), "--case", "m=1", "--seed", "5", "--json", str(out)]) == 1
    assert seen == [("k.cubin", "k.plan.json", ["m=1"], 5)]
    assert capsys.readouterr().out.endswith("0 of 1 cases of 1 kernel are right\n")
    written = json.loads(out.read_text(encoding="utf-8"))
    assert (written["ok"], written["kernels"][0]["cases"][0]["number"]) == (False, 3)
    assert run.main([str(tmp_path / "alone.cubin")]) == 2
    assert "has no `alone.plan.json` beside it" in capsys.readouterr().err


def test_an_empty_folder_is_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main([str(tmp_path)]) == 2
    assert "has no cubin with a plan" in capsys.readouterr().err


def test_a_gpu_machine_needs_nothing_of_the_compiler() -> None:
    from tests.house.test_imports import loaded

    code = """
import json, sys
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "cuda", "tsc"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gate())
import tsc.verify.run
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
    modules = loaded(code)
    assert "tsc.verify.worker" in modules
    assert [name for name in modules if name.startswith(("torch", "numpy", "tsc.spec", "tsc.program"))] == []


def test_a_tensor_without_dimensions(arrays: Arrays) -> None:
    from tests.verify.conftest import checker

    params = [tensor("x"), tensor("y", access="out")]
    assert checker(arrays, params, copy, reference={"y": "x"}).run(1, {}).ok
