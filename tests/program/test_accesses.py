"""What a step touches, and what a reference means in a task."""

from __future__ import annotations

import pytest

from tests.program.build import program
from tsc.ops.base import Engine

SPEC = """
params: {x: {dtype: bf16, shape: [m, 64]}, y: {dtype: bf16, shape: [m, 64]}, s: {dtype: i32}}
workspace: {w: {dtype: bf16, shape: [64]}}
launch: {grid: [1]}
resources:
  ab: {kind: smem, stages: 2, buffers: {a: {dtype: bf16, shape: [64, 64]}, b: {dtype: bf16, shape: [64, 64]}}}
  own: {kind: smem, per: t, stages: 2, dtype: bf16, shape: [64, 64]}
  f: {kind: registers, dtype: f32, shape: [64, 64]}
work:
  mix: {reads: [x, ab.a], writes: [own], updates: [f], cuda: "own(0, 0) = 0;"}
tasks:
  t: {warps: 4, replicas: 2, schedule: [%s]}
"""


def touched(step: str) -> list[tuple[str, str, str]]:
    found = program(SPEC % step)
    task = found.task("t[1]")
    return [
        (touch.reference.text, touch.mode, touch.engine.value)
        for one in task.steps()
        for touch in found.touches(one, task)
    ]


@pytest.mark.parametrize(
    ("step", "accesses"),
    [
        ("{tma_load: x, to: ab.a}", [("x", "read", "tma"), ("ab.a", "write", "tma")]),
        ("{cp_async: x, to: ab.a}", [("x", "read", "cp_async"), ("ab.a", "write", "cp_async")]),
        ("{tma_store: y, from: ab.a}", [("ab.a", "read", "store"), ("y", "write", "store")]),
        ("{store: y, from: f}", [("y", "write", "thread"), ("f", "read", "thread")]),
        ("{zero: f}", [("f", "write", "thread")]),
        (
            "{wgmma: f, a: ab.a, b: ab.b}",
            [("f", "update", "wgmma"), ("ab.a", "read", "wgmma"), ("ab.b", "read", "wgmma")],
        ),
        (
            "{do: mix}",
            [
                ("x", "read", "thread"),
                ("ab.a", "read", "thread"),
                ("own", "write", "thread"),
                ("f", "update", "thread"),
            ],
        ),
        ("{acquire: ab}", []),
        ("task_sync", []),
        ("{do: missing}", []),
    ],
)
def test_accesses(step: str, accesses: list[tuple[str, str, str]]) -> None:
    assert sorted(touched(step)) == sorted(accesses)


def test_an_update_reads_and_writes() -> None:
    found = program(SPEC % "{do: mix}")
    task = found.task("t[0]")
    (step,) = task.steps()
    flags = {t.reference.name: (t.reads, t.writes) for t in found.touches(step, task)}
    assert flags == {"x": (True, False), "ab": (True, False), "own": (False, True), "f": (True, True)}
    assert {t.engine for t in found.touches(step, task)} == {Engine.THREAD}


@pytest.mark.parametrize(
    ("operand", "kind", "copy", "buffer", "transposed"),
    [
        ("ab.b", "smem", 0, "b", False),
        ("ab.b.T", "smem", 0, "b", True),
        ("ab", "smem", 0, None, False),
        ("own", "smem", 1, "own", False),
        ("own[0]", "smem", 0, "own", False),
        ("own[replica]", "smem", 1, "own", False),
        ("x", "tensor", 0, None, False),
        ("w", "tensor", 0, None, False),
        ("s", "scalar", 0, None, False),
        ("f", "registers", 0, None, False),
        ("nothing", None, 0, None, False),
    ],
)
def test_what_a_reference_means(
    operand: str, kind: str | None, copy: int, buffer: str | None, transposed: bool
) -> None:
    found = program(SPEC % f'{{tma_load: x, to: "{operand}"}}')
    task = found.task("t[1]")
    (step,) = task.steps()
    (touch,) = (touch for touch in found.touches(step, task) if touch.route[-1] == "to")
    meaning = found.meaning(touch.reference, task, step.env)
    if kind is None:
        assert meaning is None and touch.operand is None
        return
    assert meaning is not None
    assert (meaning.kind, meaning.copy, meaning.transposed) == (kind, copy, transposed)
    assert (meaning.buffer.name if meaning.buffer else None) == buffer
