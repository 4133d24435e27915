"""`tsc tree`, `tsc table` and `tsc graph` on the specs that ship and on two that have more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tsc.check import check_file, select
from tsc.program.model import Program
from tsc.report import graph, table, tree
from tsc.report.budget import barrier_arrays, memory_map
from tsc.report.columns import columns, rows

ROOT = Path(__file__).resolve().parents[2]
SPECS = {
    path.name.removesuffix(".tsc.yaml"): path
    for folder in ("specs", "tests/report/specs")
    for path in sorted((ROOT / folder).rglob("*.tsc.yaml"))
}
OWN = ("pingpong_gemm", "tokens_and_parts")


def program(name: str) -> Program:
    report = check_file(str(SPECS[name]))
    assert [it.message for it in select(report, ignore=("TSC59",)).diagnostics] == []
    assert report.program is not None
    return report.program


@pytest.mark.parametrize("spec", SPECS)
def test_tree(spec: str, golden: Callable[..., None]) -> None:
    golden(tree.render_text(program(spec)))


@pytest.mark.parametrize("spec", OWN)
def test_tree_as_json(spec: str, golden: Callable[..., None]) -> None:
    golden(tree.render_json(program(spec)), ".json")


@pytest.mark.parametrize("spec", SPECS)
def test_table(spec: str, golden: Callable[..., None]) -> None:
    golden(table.render_text(program(spec)))


@pytest.mark.parametrize("spec", OWN)
def test_table_as_json(spec: str, golden: Callable[..., None]) -> None:
    golden(table.render_json(program(spec)), ".json")


@pytest.mark.parametrize("spec", SPECS)
def test_table_has_every_step_once_and_no_wait_above_its_commit(spec: str) -> None:
    found = program(spec)
    shown = columns(found)
    lines = list(rows(found, shown))
    for number, column in enumerate(shown):
        placed = [cells[number] for _, cells in lines]
        assert [it for it in placed if it is not None] == list(column.cells)
        assert [it.index for it in column.cells if it.index is not None] == [
            step.index for step in column.tasks[0].steps()
        ]
    for section in ("HEAD", "LOOP", "TAIL"):
        steps = [
            (row, cell.text)
            for row, (where, cells) in enumerate(lines)
            for cell in cells
            if cell is not None and where == section
        ]
        for ring in found.memories:
            commits = [row for row, text in steps if text.startswith(f"commit: {ring}")]
            waits = [row for row, text in steps if text.startswith(f"wait: {ring}")]
            assert all(commit < wait for commit, wait in zip(commits, waits, strict=False))


@pytest.mark.parametrize("spec", SPECS)
def test_memory_map_covers_every_byte_once(spec: str) -> None:
    found = program(spec)
    spans = [(it.offset, it.offset + it.size) for it in memory_map(found) if not it.over]
    spans += [(it.offset, it.offset + 8 * it.count) for it in barrier_arrays(found)]
    spans += [] if found.tensor_slot is None else [(found.tensor_slot, found.tensor_slot + 8)]
    spans = [(begin, end) for begin, end in spans if end > begin]
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    assert (spans[-1][1] if spans else 0) == found.smem_bytes


@pytest.mark.parametrize("spec", SPECS)
def test_graph_as_mermaid(spec: str, golden: Callable[..., None]) -> None:
    golden(graph.render(program(spec)), ".mmd")


@pytest.mark.parametrize("spec", OWN)
def test_graph_as_dot(spec: str, golden: Callable[..., None]) -> None:
    golden(graph.render(program(spec), "dot"), ".dot")


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    yield node
    for block in node.get("blocks", ()):
        for inner in block["nodes"]:
            yield from nodes(inner)


@pytest.mark.parametrize("spec", SPECS)
def test_both_trees_say_the_same(spec: str) -> None:
    found = program(spec)
    text, data = tree.render_text(found), json.loads(tree.render_json(found))
    assert (data["kernel"], data["target"]) == (found.kernel, [found.arch])
    for task, shown in zip(found.tasks, data["tasks"], strict=True):
        steps = [node for top in shown["schedule"] for node in nodes(top) if node["kind"] == "step"]
        assert [(it["index"], it["verb"]) for it in steps] == [(s.index, s.verb) for s in task.steps()]
        assert all(f"#{it['index']:<2}" in text and it["text"] in text for it in steps)
        for route in shown["routes"]:
            assert f"`{route['token']}` from #{route['from']}" in text


@pytest.mark.parametrize("spec", SPECS)
def test_both_graphs_have_the_same_edges(spec: str) -> None:
    found = program(spec)
    edges = graph.edges(found)
    assert len(set(edges)) == len(edges)
    assert graph.render(found).count(" --> ") == len(edges)
    assert graph.render(found, "dot").count(" -> ") == len(edges)
    names = {task.label for task in found.tasks}
    assert all((source in names) != (target in names) for source, target, _ in edges)
