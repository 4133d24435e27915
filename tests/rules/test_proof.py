"""What the proof's rules say beyond their specs: of systems that no spec can make, and of open proofs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tsc.check import Proof, check_file
from tsc.diagnostics.model import Severity
from tsc.program.model import Program
from tsc.prove.judge import Judgement, judge
from tsc.prove.machine import Block, Fence, If, Loop
from tsc.prove.proof import prove
from tsc.prove.translate import translate
from tsc.report.verdict import line
from tsc.rules.proof import faults as module
from tsc.rules.proof import missing_proxy_fence

STAGED = """
tsc: 1
kernel: staged
target: sm_90a
params:
  y: {dtype: f32, shape: [256]}
launch: {grid: [1]}
resources:
  row: {kind: smem, stages: 1, dtype: f32, shape: [256]}
work:
  fill:
    writes: [row]
    cuda: for (int i = task.thread; i < 256; i += task.threads) row(i) = i;
tasks:
  write:
    warps: 4
    schedule: [{acquire: row}, {do: fill}, {commit: row}]
  send:
    warps: 1
    schedule: [{wait: row}, {tma_store: y, from: row}, {store_wait: 0}, {release: row}]
"""

WEIGHTED = """
tsc: 1
kernel: copy
target: sm_90a
params:
  x: {dtype: f32, shape: [rows, 1024]}
  w: {dtype: f32, shape: [1024], constant: true}
  y: {dtype: f32, shape: [rows, 1024]}
launch: {grid: [1]}
resources:
  ws: {kind: smem, stages: 1, dtype: f32, shape: [1024]}
  xs: {kind: smem, stages: 4, dtype: f32, shape: [1024]}
work:
  use:
    reads: [xs, ws]
    writes: [y]
    cuda: for (int i = task.thread; i < 1024; i += task.threads) y(loop, i) = xs(i) * ws(i);
tasks:
  load:
    warps: 1
    schedule:
      - acquire: ws
      - {bulk_load: w, to: ws}
      - commit: ws
      - pdl_wait
      - pdl_launch
      - domain_loop: rows
        body: [{acquire: xs}, {bulk_load: x, at: [loop, 0], to: xs}, {commit: xs}]
  store:
    warps: 4
    schedule:
      - wait: ws
      - domain_loop: rows
        body: [{wait: xs}, {do: use}, {release: xs}]
      - release: ws
"""


def without_fences(block: Block) -> Block:
    found: list[Any] = []
    for node in block:
        if isinstance(node, Loop):
            found.append(replace(node, body=without_fences(node.body)))
        elif isinstance(node, If):
            then, otherwise = without_fences(node.then), without_fences(node.otherwise)
            found.append(replace(node, then=then, otherwise=otherwise))
        elif not isinstance(node, Fence):
            found.append(node)
    return tuple(found)


@pytest.fixture
def staged(tmp_path: Path) -> Program:
    path = tmp_path / "staged.tsc.yaml"
    path.write_text(STAGED, encoding="utf-8")
    report = check_file(str(path))
    assert report.program is not None and report.diagnostics == ()
    return report.program


def test_a_missing_fence_is_called_so(staged: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    translation = translate(staged)
    agents = tuple(replace(one, body=without_fences(one.body)) for one in translation.system.agents)
    unfenced = replace(translation, system=replace(translation.system, agents=agents))
    verdict = prove(unfenced.system)
    judgement = Judgement(unfenced, verdict, verdict.alarms, (), (), 100)
    monkeypatch.setattr("tsc.prove.judge.judged", lambda program: judgement)
    (found,) = missing_proxy_fence.check(replace(staged))  # a program that nothing is known of yet
    assert found.message == (
        "`send` reads `row` at `tma_store: y` while `write` may be writing it at `do: fill`"
    )
    assert found.place.route == ("tasks", "send", "schedule", 1)
    assert [place.route for place in found.related] == [("tasks", "write", "schedule", 1)]
    assert "no proxy fence" in found.related[0].label


def test_every_kind_of_alarm_has_a_rule() -> None:
    from typing import get_args

    from tsc.prove.verdict import Kind

    assert set(get_args(Kind)) - {"race"} == set(module._KINDS)


SPEC = "specs/copy/tma.tsc.yaml"


def test_a_small_budget_leaves_the_proof_open() -> None:
    report = check_file(SPEC, proof=Proof(budget=3))
    (it,) = report.diagnostics
    assert (it.name, it.severity, report.exit_code()) == ("unproven", Severity.ERROR, 1)
    assert it.message == "the schedule is not proved: the proof met more than 3 states"
    assert it.help == "raise the budget of 3 states with `--budget`, or pass `--allow-unproven`"


def test_one_state_is_one() -> None:
    (it,) = check_file(SPEC, proof=Proof(budget=1)).diagnostics
    assert it.message == "the schedule is not proved: the proof met more than 1 state"


def test_what_is_open_can_be_allowed() -> None:
    report = check_file(SPEC, proof=Proof(budget=3, allow_unproven=True))
    assert [(it.name, it.severity) for it in report.diagnostics] == [("unproven", Severity.WARNING)]
    assert report.diagnostics[0].help == "raise the budget of 3 states with `--budget`"
    assert report.exit_code() == 0 and report.exit_code("warning") == 1


def test_nothing_is_proved_unless_wanted() -> None:
    report = check_file(SPEC, proof=Proof(wanted=False))
    assert report.judgement is None and report.diagnostics == ()


def test_a_judgement_is_made_once(staged: Program) -> None:
    assert judge(staged) is judge(staged)
    assert judge(staged, 5) is not judge(staged, 6)


def test_a_proof_lists_what_it_rests_on(tmp_path: Path) -> None:
    path = tmp_path / "weighted.tsc.yaml"
    path.write_text(WEIGHTED, encoding="utf-8")
    report = check_file(str(path))
    assert report.judgement is not None and report.diagnostics == ()
    (promise,) = report.judgement.promises
    assert promise.text == "no kernel before this one writes `w`"
    assert promise.route == ("params", "w", "constant")
    assert line(report).endswith("; rests on: no kernel before this one writes `w`\n")
