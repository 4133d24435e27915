"""Copies of a `per:` resource by their number in a snippet: what is listed is there, and nothing else."""

from __future__ import annotations

import pytest

from tests.emit.kernels import cuda, document
from tsc.toolchain.build import compile_source
from tsc.toolchain.errors import CompileFailed

TEXT = """
tsc: 1
kernel: k
target: sm_90a
params: {y: {dtype: f32, shape: [2]}}
launch: {grid: [1]}
resources:
  cell: {kind: smem, per: fill, stages: 1, dtype: f32, shape: [1]}
work:
  put: {writes: [cell], cuda: 'cell(0) = replica;'}
  get:
    reads: ["cell[1]"]
    writes: [y]
    cuda: 'y(0) = %s;  // not cell[0]'
tasks:
  fill: {warps: 1, replicas: 2, schedule: [{acquire: cell}, {do: put}, {commit: cell}]}
  use:
    warps: 1
    schedule: [{wait: "cell[0]"}, {wait: "cell[1]"}, {do: get}, {release: "cell[0]"}, {release: "cell[1]"}]
"""


def test_a_copy_is_named_by_what_is_known_when_built() -> None:
    printed = cuda(document(TEXT % "cell[ 2 - 1 ](0) + cell[1](0)"), headers=False)
    assert "y(0) = cell[CopyNumber<(2 - 1)>()](0) + cell[CopyNumber<1>()](0);  // not cell[0]" in printed
    assert compile_source(cuda(document(TEXT % "cell[1](0)")), {}, "sm_90a").diagnostics == ()


@pytest.mark.parametrize("access", ["cell[0](0)", "cell(0)"])
def test_a_copy_that_is_not_listed_is_not_there(access: str) -> None:
    with pytest.raises(CompileFailed):
        compile_source(cuda(document(TEXT % access)), {}, "sm_90a")
