"""`tsc tree` and `tsc graph` on the specs that ship and on two that have more: the whole texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tsc.check import check_file, select
from tsc.program.model import Program
from tsc.report import graph, tree

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
    assert (data["kernel"], data["target"]) == (found.kernel, list(found.targets))
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
