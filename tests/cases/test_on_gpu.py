"""The good specs, run and compared: what is proved also computes, with no round, with one, and with many."""

from __future__ import annotations

import pytest

from tests.cases.harness import CASES, ROOT, SPECS
from tests.cases.runs import RUNS
from tests.emit.kernels import cuda, document
from tsc.toolchain.build import compile_source


def test_runs_belong_to_good_specs() -> None:
    assert [name for name in RUNS if name not in SPECS or SPECS[name].expect] == []


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNS)
def test_it_computes(name: str) -> None:
    torch = pytest.importorskip("torch")
    import tsc

    text = (ROOT / CASES / f"{name}.tsc.yaml").read_text("utf-8")
    kernel = tsc.load(compile_source(cuda(document(text)), {}, "sm_90a").cubin)
    for arguments, outputs in RUNS[name](torch):
        for _ in range(3):
            kernel(*arguments)
        torch.cuda.synchronize()
        for position, expected in outputs.items():
            got = arguments[position]
            shapes = [tuple(getattr(it, "shape", ())) for it in arguments]
            assert torch.allclose(got.float(), expected.float(), rtol=1e-4, atol=1e-3), f"{name} {shapes}"
