"""Every kernel of `cases/`, run and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ready
from tests.emit.runs import RUNS

pytestmark = pytest.mark.gpu

CASES = {path.name.removesuffix(".tsc.yaml"): path for path in Path(__file__).parent.glob("cases/*.tsc.yaml")}


def test_every_kernel_has_a_run() -> None:
    assert sorted(RUNS) == sorted(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_it_computes_what_it_says(name: str) -> None:
    torch = pytest.importorskip("torch")
    recipe = ready.Text(CASES[name].read_text(encoding="utf-8"), f"{name}.tsc.yaml")
    RUNS[name](ready.kernel(f"cases/{name}", recipe), torch)
    torch.cuda.synchronize()
