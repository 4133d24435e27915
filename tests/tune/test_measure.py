"""The measuring half of the tuner: workers are real processes that make their times up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.house.modules import ROOT
from tsc.artifact.tuned import read_table
from tsc.tune import measure as tune
from tsc.tune.folder import MEASURED, POINTS, Space, TuneError, read_space, write_space

WORKER = """
import json, os, sys, time
sys.path.insert(0, {root!r})
from tsc.bench.watch import serve

SECONDS = {seconds!r}

def answer(request, say):
    if "points" not in request:
        say({{"facts": {{"device": "{device}", "torch": "2"}}}})
        return
    names = [one["name"] for one in request["points"]]
    with open({log!r}, "a") as log:
        log.write(json.dumps([request["case"]["m"], request["block"], names]) + "\\n")
    good = []
    for name in names:
        say({{"at": name}})
        kind = SECONDS.get(name, 0)
        if kind == "hangs":
            time.sleep(600)
        elif kind == "faults":
            os._exit(1)
        elif kind == "wrong":
            say({{"failed": name, "why": "it is wrong"}})
        else:
            good.append(name)
    time.sleep({pause})
    if good:
        say({{"seconds": {{name: [SECONDS[name]] * request["turns"] for name in good}}}})

serve(answer)
"""

POINTS_OF = ("default", *(f"p{number:04}" for number in range(20)))


def times(**changed: Any) -> dict[str, Any]:
    """Seconds of each point; the last one is the fastest but one, p0007 the fastest."""
    plain: dict[str, Any] = {name: 1.0 + 0.1 * (20 - at) for at, name in enumerate(POINTS_OF)}
    return {**plain, "p0007": 0.8, "default": 2.0, **changed}


class Bench:
    """A folder with a space, and a worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        (folder / POINTS).mkdir()
        for name in POINTS_OF:
            (folder / POINTS / f"{name}.cubin").write_bytes(name.encode())
        points = {name: {} if name == "default" else {"STAGES": at} for at, name in enumerate(POINTS_OF)}
        self.space = Space("g.tsc.yaml", "ab", "gemm", "{}", ({"m": 8}, {"m": 64}), points)
        write_space(folder, self.space)
        self.said: list[str] = []

    def command(self, seconds: dict[str, Any], device: str = "H200", pause: float = 0.0) -> list[str]:
        script = WORKER.format(root=str(ROOT), seconds=seconds, log=str(self.log), device=device, pause=pause)
        return [sys.executable, "-c", textwrap.dedent(script)]

    def measure(self, seconds: dict[str, Any], device: str = "H200") -> Path:
        pace = tune.Pace(silence=1.5)
        return tune.measure(self.folder, pace, self.said.append, self.command(seconds, device))

    def races(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / MEASURED).read_text().splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_fastest_point_of_each_case_goes_to_the_table_with_its_cubin(bench: Bench) -> None:
    file = bench.measure(times())
    table, found = read_table(bench.folder)
    assert found == file == bench.folder / "gemm.tuned.json"
    assert [entry.case for entry in table.entries] == [{"m": 8}, {"m": 64}]
    for entry in table.entries:
        assert entry.overrides == {"STAGES": POINTS_OF.index("p0007")}
        assert (entry.device, entry.microseconds, entry.ratio) == ("H200", 0.8e6, 2.5)
        assert (bench.folder / entry.cubin).read_bytes() == b"p0007"
    assert (table.spec_sha256, table.facts["torch"]) == ("ab", "2")


def test_the_defaults_win_where_nothing_is_faster(bench: Bench) -> None:
    bench.measure(times(default=0.5))
    table, _ = read_table(bench.folder)
    assert [(entry.overrides, entry.ratio) for entry in table.entries] == [({}, 1.0)] * 2


def test_points_race_in_groups_beside_the_defaults_and_are_halved(bench: Bench) -> None:
    bench.measure(times())
    first = [names for m, _, names in bench.races() if m == 8]
    assert first[0] == ["default"]
    assert [len(names) for names in first[1:3]] == [13, 9]
    assert all("default" in names for names in first)
    assert first[-1] == ["default", "p0007", "p0019"]
    blocks = [block for m, block, _ in bench.races() if m == 8]
    assert blocks == [*sorted(blocks[:-1]), 0.15]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("hangs", "nothing is heard for 1.5 s"),
        ("faults", "the process ends with code 1"),
        ("wrong", "it is wrong"),
    ],
)
def test_a_bad_point_is_noted_and_left_out(bench: Bench, kind: str, why: str) -> None:
    bench.measure(times(p0007=kind))
    table, _ = read_table(bench.folder)
    assert {entry.overrides["STAGES"] for entry in table.entries} == {POINTS_OF.index("p0019")}
    failed = [record for record in bench.journal() if "failed" in record]
    assert [(one["failed"], one["case"]["m"], one["why"]) for one in failed] == [
        ("p0007", 8, why),
        ("p0007", 64, why),
    ]
    assert any(f"m8: p0007 is left out: {why}" in line for line in bench.said)


def test_defaults_that_fail_leave_the_others_to_race(bench: Bench) -> None:
    bench.measure(times(default="wrong"))
    table, _ = read_table(bench.folder)
    assert [entry.overrides["STAGES"] for entry in table.entries] == [POINTS_OF.index("p0007")] * 2
    assert [entry.ratio for entry in table.entries] == [1.0, 1.0]


def test_a_search_that_is_done_measures_nothing_more(bench: Bench) -> None:
    bench.measure(times())
    before = bench.races()
    table = read_table(bench.folder)[0]
    bench.measure(times(p0007=5.0))
    assert bench.races() == before
    assert read_table(bench.folder)[0].entries == table.entries
    assert "going on where the journal ends" in bench.said


def test_another_gpu_begins_anew(bench: Bench) -> None:
    bench.measure(times())
    bench.measure(times(p0007=5.0), device="H100")
    table, _ = read_table(bench.folder)
    assert {(entry.device, entry.overrides["STAGES"]) for entry in table.entries} == {
        ("H100", POINTS_OF.index("p0019"))
    }


def wait_for(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_search_that_is_killed_goes_on_where_it_was(bench: Bench) -> None:
    script = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from tsc.tune import measure as tune
        tune.measure(Path({str(bench.folder)!r}), tune.Pace(), print, {bench.command(times(), pause=0.2)!r})
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(lambda: bench.log.is_file() and len(bench.races()) >= 4)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(0.5)  # its worker may still be at its last race
    done = [record for record in bench.journal() if "race" in record]
    assert done
    before = len(bench.races())
    with (bench.folder / MEASURED).open("a") as file:
        file.write('{"race": ["cut o')
    bench.measure(times())
    again = [names for m, _, names in bench.races()[before:] if m == 8]
    for record in done:
        assert record["race"] not in again
    assert read_table(bench.folder)[0].entries[0].overrides == {"STAGES": POINTS_OF.index("p0007")}


def test_a_space_on_which_nothing_runs_is_said(bench: Bench) -> None:
    with pytest.raises(TuneError, match="nothing of `gemm` runs"):
        bench.measure(dict.fromkeys(POINTS_OF, "wrong"))


def test_a_worker_without_a_gpu_is_said(bench: Bench) -> None:
    script = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from tsc.bench.watch import serve
        serve(lambda request, say: say({{"error": "PyTorch finds no GPU on this machine"}}))
    """
    with pytest.raises(TuneError, match="PyTorch finds no GPU"):
        tune.measure(bench.folder, tune.Pace(), print, [sys.executable, "-c", textwrap.dedent(script)])


def test_what_is_no_folder_of_a_search_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TuneError, match=r"has no `space.json`; `tsc tune SPEC --compile-only -o"):
        read_space(tmp_path)
    (tmp_path / "space.json").write_text('{"space": 9}')
    with pytest.raises(TuneError, match="is no space of this tsc, which reads version 1"):
        read_space(tmp_path)
    (tmp_path / "space.json").write_text('{"space": 1}')
    with pytest.raises(TuneError, match="is damaged: KeyError at 'spec'"):
        read_space(tmp_path)
    assert tune.main([str(tmp_path)]) == 2
