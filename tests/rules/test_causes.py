"""One slip is one finding: a name misspelt in a right spec is reported as that, and as nothing else."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.rules.harness import ROOT, SPECS
from tsc.check import Report, check_reading, select
from tsc.source import parse
from tsc.source.route import Route, show_route
from tsc.spec.overrides import Overrides

FOLDER = ROOT / SPECS / "accept"
# Words that are no names of the spec's own, and keys and lists that a slip makes another right spec of.
CHOICES = {
    "kind",
    "dtype",
    "policy",
    "released_by",
    "cache",
    "fill",
    "cuda",
    "target",
    "kernel",
    "key",
    "pipeline",
}
OTHERWISE = {"shape", "as"}


def check(data: object) -> Report:
    report = check_reading(parse(json.dumps(data), "slip.tsc.yaml", "yaml"), Overrides())
    return select(report, ignore=("TSC59",))


def texts(value: Any, route: Route = ()) -> Iterator[tuple[Route, str]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if key in CHOICES:
            continue
        if isinstance(inner, str) and re.match(r"[A-Za-z_]", inner):
            yield (*route, key), inner
        yield from texts(inner, (*route, key))


def changed(data: Any, route: Route, value: object) -> Any:
    data = copy.deepcopy(data)
    owner = data
    for part in route[:-1]:
        owner = owner[part]
    owner[route[-1]] = value
    return data


@pytest.mark.parametrize(
    "spec", ["persistent_in_sight", "merged_operands", "six_tasks", "value_route", "split_loop"]
)
def test_a_misspelt_name_is_one_mistake(spec: str) -> None:
    document = parse((FOLDER / f"{spec}.tsc.yaml").read_text("utf-8"), spec, "yaml").document
    assert document is not None
    several = {}
    for route, text in texts(document.data):
        slip = re.sub(r"([A-Za-z_]\w*)", r"\1zz", text, count=1)
        found = check(changed(document.data, route, slip)).diagnostics
        names = sorted({it.name for it in found})
        if len(names) > 1 or (not names and not OTHERWISE & set(map(str, route))):
            several[show_route(route)] = names
    assert several == {}


BROKEN = """
tsc: 1
kernel: copy
target: sm_90a
params: {x: {dtype: bf16, shape: [m, 64]}, y: {dtype: bf16, shape: [m, 64]}}
launch: {grid: [1]}
let: {row: first * 64}
resources: {ring: {kind: smem, stages: 2, dtype: bf16, shape: [64, 64]}}
tasks:
  load:
    warps: 1
    schedule: [{acquire: ring}, {tma_load: x, at: [0, 0], to: ring}, {commit: ring}]
  store:
    warps: %s
    schedule: [{wait: ring}, {tma_store: y, at: [%s, 0], from: ring}]
  spare:
    warps: 1
    schedule: [{take: %s}]
"""


@pytest.mark.parametrize(
    ("warps", "at", "turn", "found"),
    [
        # The unreleased stage is a mistake of its own where nothing else is wrong with the task,
        ("1", "0", "ring", ["unreleased-stage", "unused-declaration", "verb-on-wrong-kind"]),
        # and waits until a name that its task uses, here or through a let, is there.
        ("1", "frist", "ring", ["unknown-name", "verb-on-wrong-kind"]),
        ("1", "row", "ring", ["unknown-name", "verb-on-wrong-kind"]),
        # What is said about the warps of a task does not hang on its schedule.
        ("0", "row", "ring", ["count-below-one", "unknown-name", "verb-on-wrong-kind"]),
    ],
)
def test_other_mistakes_wait_where_a_name_is_not_there(
    warps: str, at: str, turn: str, found: list[str]
) -> None:
    text = BROKEN if at == "row" else BROKEN.replace("let: {row: first * 64}\n", "let: {row: m}\n")
    report = check_reading(parse(text % (warps, at, turn), "s.tsc.yaml", "yaml"), Overrides())
    assert sorted({it.name for it in report.diagnostics}) == found
