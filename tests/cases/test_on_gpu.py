"""The good specs, run and compared: what is proved also computes, with no round, with one, and with many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ready
from tests.cases.runs import RUNS

FOLDER = Path(__file__).parent


def test_runs_belong_to_good_specs() -> None:
    harness = pytest.importorskip("tests.cases.harness", reason="needs the compiler", exc_type=ImportError)
    specs = harness.SPECS
    assert [name for name in RUNS if name not in specs or specs[name].expect] == []


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNS)
def test_it_computes(name: str) -> None:
    torch = pytest.importorskip("torch")
    text = (FOLDER / f"{name}.tsc.yaml").read_text("utf-8")
    kernel = ready.kernel(f"proved/{name.replace('/', '-')}", ready.Text(text))
    for arguments, outputs in RUNS[name](torch):
        for _ in range(3):
            kernel(*arguments)
        torch.cuda.synchronize()
        for position, expected in outputs.items():
            got = arguments[position]
            shapes = [tuple(getattr(it, "shape", ())) for it in arguments]
            assert torch.allclose(got.float(), expected.float(), rtol=1e-4, atol=1e-3), f"{name} {shapes}"
