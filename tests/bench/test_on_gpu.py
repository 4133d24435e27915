"""A bench and a search on a GPU, where there are one and a torch that uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.house.modules import ROOT
from tsc.artifact.tuned import read_table
from tsc.cli.app import app

pytest.importorskip("cuda.bindings.nvrtc")
pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

SPEC = str(ROOT / "specs" / "copy" / "tma.tsc.yaml")


def test_a_copy_races_memcpy_torch_and_itself(tmp_path: Path) -> None:
    cubin = str(tmp_path / "copy.cubin")
    assert CliRunner().invoke(app, ["build", SPEC, "-o", cubin]).exit_code == 0
    against = ["--against", "memcpy", "--against", "torch", "--against", cubin]
    call = ["bench", SPEC, "-D", "m=4096", "-D", "n=8192", "--quick", "--format", "json", *against]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    result = json.loads(done.output)
    assert result["relative_error"] == 0.0
    assert result["unit"] == "GB/s"
    ours, memcpy, torch, itself = result["rows"]
    assert ours["settled"]["speed"] > 500
    assert 0.5 < memcpy["settled"]["ratio"] < 2.0
    assert torch["ran"] == "y.copy_(x)"
    assert 0.9 < itself["settled"]["ratio"] < 1.1


def test_a_search_ends_with_a_folder_that_loads(tmp_path: Path) -> None:
    import torch

    import tsc

    folder = tmp_path / "copy.tuned"
    done = CliRunner().invoke(app, ["tune", SPEC, "-o", str(folder), "--case", "m=2048,n=4096"])
    assert done.exit_code == 0, done.output
    table, _ = read_table(folder)
    assert [entry.case for entry in table.entries] == [{"m": 2048, "n": 4096}]
    assert table.entries[0].ratio > 0.95
    x = torch.randn(1000, 1016, device="cuda").bfloat16()
    y = torch.empty_like(x)
    tsc.load(folder)(x, y)
    assert torch.equal(x, y)
