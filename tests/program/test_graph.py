"""What each resource is made from."""

from __future__ import annotations

import pytest

from tests.program.build import program

SPEC = """
params: {{x: {{dtype: f32, shape: [1024]}}, y: {{dtype: f32, shape: [1024]}}}}
launch: {{grid: [1]}}
resources:
  a: {{kind: smem, stages: 2, dtype: f32, shape: [1024]}}
  b: {{kind: smem, stages: 2, dtype: f32, shape: [1024]}}
  c: {{kind: smem, dtype: f32, shape: [1024]}}
  v: {{kind: registers, dtype: f32, per_thread: 1}}
  w: {{kind: registers, dtype: f32, per_thread: 1}}
  go: {{kind: signal}}
work:
  ab: {{reads: [a], writes: [b], cuda: "b(0) = a(0);"}}
  both: {{reads: [a, c], writes: [b], cuda: "b(0) = a(0) + c(0);"}}
  add: {{reads: [a], updates: [b], cuda: "b(0) += a(0);"}}
  look: {{reads: [a], writes: [v], cuda: "v[0] = a(0);"}}
  put: {{reads: [w], writes: [c], cuda: "c(0) = w[0];"}}
  none: {{reads: [x], writes: [y], cuda: "y(0) = x(0);"}}
tasks:
  first: {{warps: 1, schedule: [{first}]}}
  second: {{warps: 1, schedule: [{second}]}}
"""
EMPTY = {"a": (), "b": (), "c": (), "go": ()}


@pytest.mark.parametrize(
    ("first", "second", "edges"),
    [
        ("{bulk_load: x, to: a}", "{bulk_store: y, from: a}", {}),
        ("{do: ab}", "task_sync", {"b": ("a",)}),
        ("{do: both}", "task_sync", {"b": ("a", "c")}),
        ("{do: add}", "task_sync", {"b": ("a",)}),
        ("{do: none}", "task_sync", {}),
        # Registers are looked through, in one task and in the order that the values flow.
        ("{do: look}, {convert: w, from: v}, {do: put}", "task_sync", {"c": ("a",)}),
        ("{do: put}, {convert: w, from: v}, {do: look}", "task_sync", {"c": ("a",)}),
        ("{do: look}", "{convert: w, from: v}, {do: put}", {}),
        ("{load: v, from: a}, {store: c, from: v}", "task_sync", {"c": ("a",)}),
        # A signal is made from what its task has waited for.
        ("{wait: a}, {acquire: go}, {commit: go}", "{wait: go}", {"go": ("a",)}),
        ("{acquire: go}, {commit: go}", "{wait: go}, {wait: b}", {}),
        ("{do: ab}", "{do: both}", {"b": ("a", "c")}),
    ],
)
def test_edges(first: str, second: str, edges: dict[str, tuple[str, ...]]) -> None:
    assert program(SPEC.format(first=first, second=second)).graph == EMPTY | edges
