"""The supervising half of the GEMM benchmark, with workers that measure nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gemm
from tests.house.modules import ROOT
from tsc.bench.watch import Worker

WORKER = """
import json, os, sys, time
sys.path.insert(0, {root!r})
from tsc.bench.watch import serve

def answer(request, say):
    with open({log!r}, "a") as log:
        log.write(json.dumps(request) + "\\n")
    for candidate in request["candidates"]:
        name = candidate["name"]
        say({{"at": name}})
        if name == "hangs":
            time.sleep(600)
        if name == "faults":
            os._exit(1)
        if name == "wrong":
            say({{"failed": name, "why": "it is wrong"}})
    ratios = {{"ratio": 1.02, "ratio_error": 0.001, "tflops": 700.0}}
    names = [one["name"] for one in request["candidates"] if one["name"] != "wrong"]
    rows = [{{"name": name, "settled": ratios, "burst": ratios}} for name in names]
    say({{"result": {{"sets": 2, "rows": rows}}}})

serve(answer)
"""


class Bench:
    """A folder of cubins, and a worker that logs what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.cubins = folder
        self.log = folder / "log"
        self.out = folder / "results" / "gemm.json"
        for name in ("fast", "slow", "hangs", "faults", "wrong"):
            (folder / f"{name}.cubin").write_bytes(b"")
        script = WORKER.format(root=str(ROOT), log=str(self.log))
        self.worker = Worker([sys.executable, "-c", script])
        self.options = gemm.Options(silence=2.0)

    def cases(self, *tried: str, shapes: tuple[str, ...] = ("deepk",)) -> list[gemm.Case]:
        return gemm.cases_of({"shapes": {shape: list(tried) for shape in shapes}}, self.cubins)

    def run(self, cases: list[gemm.Case]) -> dict[str, Any]:
        return gemm.run(cases, self.worker, self.options, self.out, {"commit": "c"})

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    with made.worker:
        yield made


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


def test_a_case_is_measured_and_written(bench: Bench) -> None:
    result = bench.run(bench.cases("fast", "slow"))
    assert json.loads(bench.out.read_text()) == result
    (case,) = result["cases"]
    assert (case["case"], case["name"], case["in_mean"]) == ("512 x 512 x 32768", "deepk", True)
    assert names(case["rows"]) == ["fast", "slow"]
    assert {"suite", "commit", "method"} <= result.keys()


def test_kernels_that_hang_fault_or_are_wrong_are_left_out_with_the_reason(bench: Bench) -> None:
    (case,) = bench.run(bench.cases("hangs", "fast", "faults", "wrong"))["cases"]
    assert names(case["rows"]) == ["fast"]
    reasons = {one["name"]: one["why"] for one in case["failed"]}
    assert reasons["hangs"] == "nothing is heard for 2 s"
    assert reasons["faults"] == "the process ends with code 1"
    assert reasons["wrong"] == "it is wrong"
    tried = [[one["name"] for one in request["candidates"]] for request in bench.requests()]
    assert tried == [["hangs", "fast", "faults", "wrong"], ["fast", "faults", "wrong"], ["fast", "wrong"]]


def test_a_shape_on_which_everything_fails_costs_no_other(bench: Bench) -> None:
    cases = [*bench.cases("faults"), *bench.cases("fast", shapes=("tall",))]
    deepk, tall = bench.run(cases)["cases"]
    assert deepk["rows"] == []
    assert names(tall["rows"]) == ["fast"]


def test_a_second_call_goes_on_where_the_first_ended(bench: Bench) -> None:
    bench.run(bench.cases("fast", shapes=("deepk",)))
    result = bench.run(bench.cases("fast", shapes=("tall", "deepk")))
    assert [request["m"] for request in bench.requests()] == [512, 65536]
    assert names(result["cases"]) == ["tall", "deepk"]
    assert json.loads(bench.out.read_text()) == result


def test_results_of_elsewhere_are_gone_on_from(bench: Bench, tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    bench.run(bench.cases("fast", shapes=("deepk",)))
    bench.out.rename(earlier)
    cases = bench.cases("fast", shapes=("tall", "deepk"))
    result = gemm.run(cases, bench.worker, bench.options, bench.out, {}, earlier)
    assert [request["m"] for request in bench.requests()] == [512, 65536]
    assert names(json.loads(bench.out.read_text())["cases"]) == names(result["cases"]) == ["tall", "deepk"]


def test_no_shape_is_begun_that_would_pass_the_time(bench: Bench) -> None:
    times = iter(range(0, 1000, 10))
    bench.options.now = lambda: float(next(times))
    bench.options.seconds = 45.0
    result = bench.run(bench.cases("fast", shapes=("deepk", "tall", "odd_mn", "mid")))
    assert len(result["cases"]) == 2


def test_tuning_time_is_shared_out(bench: Bench) -> None:
    bench.options.tune_seconds = 30.0
    bench.run(bench.cases("fast", shapes=("deepk", "tall", "mid")))
    shares = [request["seconds"] for request in bench.requests()]
    assert shares[0] == pytest.approx(10.0)
    assert shares[2] > 14.0  # what the first two left over


def test_a_plan_names_shapes_candidates_and_further_cases(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / f"{name}.cubin").write_bytes(b"")
    halved = {"cubin": "y", "name": "y halved", "arguments": {"alpha": 0.5}}
    more = {"name": "fp8", "m": 8, "n": 16, "k": 32, "dtype": "e4m3", "try": ["y"]}
    plan = {"try": ["x"], "shapes": {"decode16": [halved, "x"], "deepk": []}, "more": [more]}
    cases = {case.name: case for case in gemm.cases_of(plan, tmp_path)}
    assert cases.keys() == gemm.SHAPES.keys() - {"deepk"} | {"fp8"}
    assert [one["name"] for one in cases["decode16"].candidates] == ["y halved", "x"]
    assert cases["decode16"].candidates[0]["path"] == str(tmp_path / "y.cubin")
    assert (cases["fp8"].dtype, cases["fp8"].counts, cases["tall"].counts) == ("e4m3", False, True)
    assert not cases["odd_mn"].counts
    assert sum(case.counts for case in cases.values()) == 15


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"try": ["gone"]}, "there is no `.*gone.cubin`"),
        ({"shapes": {"square": []}}, "`square`, which is no key and no shape"),
        ({"shape": {}}, "`shape`, which is no key and no shape"),
    ],
)
def test_a_wrong_plan_is_refused(plan: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        gemm.cases_of(plan, tmp_path)
