"""Rows that end inside 16 bytes: refused where TMA stores would write behind them, taken where they may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.emit.kernels import document, program_of
from tests.runtime.arrays import ADDRESS, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import tensor
from tsc.artifact.manifest import decode_manifest
from tsc.emit import manifest
from tsc.runtime.driver import Cuda
from tsc.runtime.errors import LaunchError
from tsc.runtime.kernel import Kernel

SPECS = Path(__file__).resolve().parents[2] / "specs"


def shipped(spec: str, driver: FakeDriver) -> Kernel:
    """A kernel with the manifest of a shipped spec."""
    path = SPECS / f"{spec}.tsc.yaml"
    found = manifest(program_of(document(path.read_text("utf-8"), path.name)))
    kernel = Kernel(decode_manifest(json.dumps(found).encode()), b"image", Cuda(driver))
    driver.parameter_sizes = [slot.bytes for slot in kernel._signature.slots]
    return kernel


def pitched(rows: int, columns: int, pitch: int, number: int = 0) -> Tensor:
    """A matrix whose rows lie so many elements apart."""
    return Tensor(rows, columns, strides=(pitch, 1), address=ADDRESS + number * 2**24)


def test_a_copy_whose_rows_end_inside_16_bytes_is_refused(driver: FakeDriver) -> None:
    copy = shipped("copy/tma", driver)
    copy(pitched(100, 136, 144), pitched(100, 136, 144, 1))
    with pytest.raises(LaunchError) as refusal:
        copy(pitched(100, 129, 136), pitched(100, 129, 136, 1))
    assert str(refusal.value) == (
        "`tma_copy`: the kernel relies on `n % 8 == 0` (`tma_store` writes rows of `y` in whole 16 bytes: "
        "make `n` a multiple of 8, promise `padded: true` of `y`, or store by threads), and `n` is 129 by "
        "dimension 1 of `x`"
    )
    assert len(driver.launches) == 1


def test_a_product_may_have_any_number_of_columns(driver: FakeDriver) -> None:
    gemm = shipped("gemm/hopper_bf16", driver)
    a, b = pitched(100, 65, 72), pitched(129, 65, 72, 1)
    gemm(a, b, pitched(100, 129, 136, 2))
    assert len(driver.launches) == 1
    with pytest.raises(LaunchError, match="`d` has stride 128 in dimension 0"):
        gemm(a, b, pitched(100, 129, 128, 2))
    assert len(driver.launches) == 1


@pytest.mark.parametrize(("columns", "pitch"), [(9, 8), (129, 128), (17, 16)])
def test_padded_rows_lie_as_far_apart_as_their_padding_needs(make: Make, columns: int, pitch: int) -> None:
    kernel = make(params=[tensor("x", "m", "n", padded=True, stride_multiple=8, access="out")])
    kernel(pitched(4, columns, pitch + 8))
    kernel(pitched(1, columns, pitch))  # one row lies apart from none
    with pytest.raises(LaunchError) as refusal:
        kernel(pitched(4, columns, pitch))
    assert str(refusal.value) == (
        f"`scale`: `x` has stride {pitch} in dimension 0, and a row of {columns} has {pitch + 8} elements "
        "with the padding that the kernel writes; pass one whose rows lie that far apart"
    )
