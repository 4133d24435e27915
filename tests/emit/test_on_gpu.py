"""Every kernel of `cases/`, run and compared."""

from __future__ import annotations

import pytest

from tests.emit.kernels import NAMES, cuda, document_of
from tests.emit.runs import RUNS
from tsc.toolchain.build import compile_source

pytestmark = pytest.mark.gpu


def test_every_kernel_has_a_run() -> None:
    assert sorted(RUNS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_computes_what_it_says(name: str) -> None:
    torch = pytest.importorskip("torch")
    import tsc

    kernel = tsc.load(compile_source(cuda(document_of(name)), {}, "sm_90a").cubin)
    RUNS[name](kernel, torch)
    torch.cuda.synchronize()
