"""Every shipped kernel on a GPU, by the cases of its spec."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tests.house.modules import ROOT
from tsc.cli.app import app

pytest.importorskip("cuda.bindings.nvrtc")
pytestmark = pytest.mark.gpu

SPECS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.tsc.*"))


@pytest.mark.parametrize("spec", SPECS)
def test_shipped_spec_is_right(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["verify", spec])
    assert result.exit_code == 0, result.output
