"""One word on the command line makes a shipped kernel persistent: checked, proved and built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tsc.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
SPEC = str(ROOT / "specs/copy/tma.tsc.yaml")

pytest.importorskip("cuda.bindings.nvrtc")


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("policy", ["static", "atomic"])
@pytest.mark.parametrize("cluster", ["", "launch.cluster={m: 2}"])
def test_another_policy_is_proved_and_built(policy: str, cluster: str, tmp_path: Path) -> None:
    sets = ["--set", f"resources.tiles.policy={policy}", *(["--set", cluster] if cluster else [])]
    assert "proved for every size and trip count" in ran("check", SPEC, *sets)
    cubin = tmp_path / "copy.cubin"
    ran("build", SPEC, "-o", str(cubin), *sets)
    facts = json.loads(ran("inspect", str(cubin), "--format", "json"))
    assert facts["queue"]["policy"] == policy
    assert ("counter" in {one["kind"] for one in facts["arguments"]}) == (policy == "atomic")
    shown = ran("inspect", str(cubin))
    assert f"tiles: {policy}" in shown and ("2 answers in flight" in shown) == (policy == "atomic")


def test_the_hardware_hands_out_tiles_on_its_own_target(tmp_path: Path) -> None:
    sets = ["--set", "resources.tiles.policy=clc", "--set", "target=sm_100a"]
    assert "proved for every size and trip count" in ran("check", SPEC, *sets)
    ran("build", SPEC, "-o", str(tmp_path / "copy.cubin"), *sets)


def test_tree_and_table_show_who_asks() -> None:
    sets = ["--set", "resources.tiles.policy=atomic"]
    tree, table = ran("tree", SPEC, *sets), ran("table", SPEC, *sets)
    assert "tiles.fetch  (warp 2, one thread, derived)" in tree
    line = next(line for line in table.splitlines() if line.startswith("tiles  "))
    assert line.split() == [
        "tiles",
        "AsyncAsync",
        "2",
        "1",
        "3",
        "tiles.fetch",
        "load,",
        "store,",
        "tiles.fetch",
    ]
    for name in ("tiles.full", "tiles.empty"):
        assert name in table
