"""The trace that Perfetto opens: rows that hold, slices side by side, arrows from slice to slice."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tsc.check import check_file
from tsc.report.trace import chrome

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.tsc.*"))
WRONG = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/rules/proof").rglob("bad*.tsc.*"))
DEADLOCK = "tests/rules/proof/deadlock/bad_too_few_stages.tsc.yaml"


def trace(spec: str) -> dict[str, Any] | None:
    report = check_file(str(ROOT / spec))
    return None if report.judgement is None else json.loads(chrome(report.judgement, report.document))


@pytest.mark.parametrize("spec", [*SHIPPED, *WRONG])
def test_a_trace_is_well_formed(spec: str) -> None:
    data = trace(spec)
    if data is None:
        pytest.skip("another rule speaks first")
    events = data["traceEvents"]
    rows = {(it["pid"], it["tid"]) for it in events if it["name"] == "thread_name"}
    slices = [it for it in events if it["ph"] == "X"]
    assert {(it["pid"], it["tid"]) for it in slices} <= rows
    for row in rows:
        mine = sorted((it["ts"], it["ts"] + it["dur"]) for it in slices if (it["pid"], it["tid"]) == row)
        assert all(left[1] <= right[0] for left, right in pairwise(mine)), row
    flows: dict[int, list[dict[str, Any]]] = {}
    for it in events:
        if it["ph"] in "sf":
            flows.setdefault(it["id"], []).append(it)
    for begin, end in flows.values():
        assert (begin["ph"], end["ph"]) == ("s", "f") and begin["ts"] <= end["ts"]
        for at in (begin, end):
            assert any(
                (it["pid"], it["tid"]) == (at["pid"], at["tid"])
                and it["ts"] <= at["ts"] < it["ts"] + it["dur"]
                for it in slices
            )


def test_every_ring_goes_round_in_the_run_of_a_proved_spec() -> None:
    data = trace("specs/copy/tma.tsc.yaml")
    assert data is not None
    fills = [it for it in data["traceEvents"] if it["ph"] == "X" and it["name"].startswith("fill")]
    assert {it["args"]["phase"] for it in fills} == {0, 1}
    assert {it["args"]["stage"] for it in fills} == set(range(12))


def test_blocked_waits_last_to_the_end() -> None:
    data = trace(DEADLOCK)
    assert data is not None and data["otherData"]["outcome"] == "refuted"
    slices = [it for it in data["traceEvents"] if it["ph"] == "X"]
    stuck = [it for it in slices if it["name"].startswith("waits for ever")]
    assert [(it["name"], it["args"]["missing"]) for it in stuck] == [
        ("waits for ever: wait a[2]", "load"),
        ("waits for ever: acquire b[0]", "read"),
    ]
    end = max(it["ts"] + it["dur"] for it in slices)
    assert all(it["ts"] + it["dur"] == end for it in stuck)


def test_what_meets_is_marked() -> None:
    data = trace("tests/rules/proof/race/bad_after_the_first_round.tsc.yaml")
    assert data is not None
    marks = [(it["name"], it["args"]["round"]) for it in data["traceEvents"] if it["ph"] == "i"]
    assert marks == [("race: do: fill", 1), ("race: do: use", 0)]


def test_the_whole_text(golden: Callable[..., None]) -> None:
    golden(json.dumps(trace(DEADLOCK), indent=1) + "\n", ".json")
