"""What a task's fragments take at the same time, as the rule about registers counts it."""

from __future__ import annotations

import pytest

from tsc.check import check_reading
from tsc.rules.matrix.live import peak
from tsc.source import parse
from tsc.spec.overrides import Overrides

SPEC = """
tsc: 1
kernel: multiply
target: sm_90a
params:
  x: {dtype: f32, shape: [64, 64]}
  y: {dtype: f32, shape: [64, 64]}
launch: {grid: [1]}
resources:
  p: {kind: registers, dtype: f32, shape: [64, 64]}
  q: {kind: registers, dtype: f32, shape: [64, 64]}
  h: {kind: registers, dtype: bf16, shape: [64, 64]}
work:
  add: {reads: [p], updates: [q], cuda: "for (int i = 0; i < q.size; ++i) q[i] += p[i];"}
tasks:
  math:
    warps: 4
    schedule: [%s]
"""


@pytest.mark.parametrize(
    ("steps", "names", "words"),
    [
        # A thread has 32 values of each: 32 registers of f32, 16 of bf16.
        ("{load: p, from: x}, {store: y, from: p}", {"p"}, 32),
        # Both sides of a conversion are there at its step.
        ("{load: p, from: x}, {convert: h, from: p}, {store: y, from: h}", {"p", "h"}, 48),
        # What is written anew is not needed in between.
        (
            "{load: p, from: x}, {store: y, from: p}, {load: q, from: x}, {store: y, from: q}, "
            "{load: p, from: x}, {store: y, from: p}",
            {"p"},
            32,
        ),
        # A sum is needed all through its loop, beside what is added to it and is new in each round.
        (
            "{zero: q}, {for: 4, as: i, body: [{load: p, from: x}, {do: add}, {load: h, from: x}, "
            "{store: y, from: h}]}, {store: y, from: q}",
            {"p", "q"},
            64,
        ),
        # What precedes a loop and is used in it is needed to its end.
        (
            "{load: p, from: x}, {zero: q}, {for: 4, as: i, body: [{do: add}, {load: h, from: x}, "
            "{store: y, from: h}]}, {store: y, from: q}",
            {"p", "q", "h"},
            80,
        ),
    ],
)
def test_what_is_needed_at_the_same_time(steps: str, names: set[str], words: int) -> None:
    report = check_reading(parse(SPEC % steps, "s.tsc.yaml", "yaml"), Overrides())
    assert report.program is not None, report.found
    (task,) = report.program.tasks
    most = peak(report.program, task)
    assert most is not None
    assert ({it.name for it in most.fragments}, most.words) == (names, words)


def test_a_task_without_fragments_has_no_peak() -> None:
    report = check_reading(parse(SPEC % "task_sync", "s.tsc.yaml", "yaml"), Overrides())
    assert report.program is not None
    assert peak(report.program, report.program.tasks[0]) is None
