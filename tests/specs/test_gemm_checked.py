"""Shipped GEMMs as they are built: proved whatever is set, without spills, with the right counts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.specs.gemms import ALL, WIDE, Gemm
from tsc.cli.app import app

ROOT = Path(__file__).resolve().parents[2] / "specs" / "gemm"
SPECS = sorted(path.name.removesuffix(".tsc.yaml") for path in ROOT.glob("*.tsc.yaml"))


def tsc(command: str, spec: str, *options: str) -> str:
    done = CliRunner().invoke(app, [command, str(ROOT / f"{spec}.tsc.yaml"), *options])
    assert done.exit_code == 0, done.output
    return done.output


def defined(**settings: object) -> list[str]:
    return [part for name, value in settings.items() for part in ("-D", f"{name}={value}")]


def emitted(spec: str, **settings: object) -> tuple[str, dict[str, Any]]:
    """The CUDA of a spec, and its manifest."""
    cuda = tsc("emit", spec, *defined(**settings))
    begin = cuda.index("tsc_manifest[] =")
    manifest = "".join(re.findall(r'R"json\((.*?)\)json"', cuda[begin:]))
    return cuda, json.loads(manifest)


def arrivals(manifest: dict[str, Any]) -> dict[str, int]:
    return {barrier["name"]: barrier["arrivals"] for barrier in manifest["barriers"]}


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_is_short_enough_to_be_read(spec: str) -> None:
    lines = (ROOT / f"{spec}.tsc.yaml").read_text(encoding="utf-8").splitlines()
    assert len(lines) < (80 if spec == "hopper_bf16_simple" else 150)


def test_each_spec_is_among_those_that_run() -> None:
    assert {gemm.spec for gemm in ALL} == {*SPECS}


@pytest.mark.parametrize("gemm", ALL, ids=str)
def test_it_is_built_without_spills(gemm: Gemm, tmp_path: Path) -> None:
    told = tsc("build", gemm.spec, *defined(**gemm.settings), "-v", "-o", str(tmp_path / "k.cubin"))
    assert re.search(r"spills +none", told)
    assert "TSC" not in told  # a warning of any rule
    assert "C75" not in told  # products that the compiler made wait for each other


@pytest.mark.parametrize(
    ("spec", "settings", "counts"),
    [
        # A warpgroup gives a stage back once, to each CTA that loads for it.
        ("hopper_bf16", {}, {"ab.full": 1, "ab.empty": 4}),
        ("hopper_bf16", {"CLUSTER_M": 1}, {"ab.full": 1, "ab.empty": 2}),
        ("hopper_bf16", {"CLUSTER_N": 2}, {"ab.full": 1, "ab.empty": 6}),
        ("hopper_bf16", {"BM": 192, "BN": 160, "WARPS": 12, "REGISTERS": 152}, {"ab.full": 1, "ab.empty": 6}),
        # Of two that alternate only one gives it back.
        ("hopper_bf16_pingpong", {}, {"ab.full": 1, "ab.empty": 2}),
        # Two tasks fill a stage.
        ("hopper_bf16_swapped", {}, {"ab.full": 2, "ab.empty": 1}),
        # Threads read the scales, by warps.
        ("hopper_fp8_blockwise", {}, {"ab.full": 1, "ab.empty": 16}),
    ],
    ids=str,
)
def test_arrivals(spec: str, settings: dict[str, int], counts: dict[str, int]) -> None:
    _, manifest = emitted(spec, **settings)
    assert {name: arrivals(manifest)[name] for name in counts} == counts


@pytest.mark.parametrize(
    ("spec", "settings", "size"),
    [
        ("hopper_bf16", {}, (128 + 256) * 64 * 2),
        (
            "hopper_bf16",
            WIDE,
            (256 + 128) * 64 * 2,
        ),
        ("hopper_bf16_pingpong", {}, (128 + 192) * 64 * 2),
        ("hopper_fp8", {}, (128 + 256) * 128),
        ("hopper_fp8_blockwise", {}, (128 + 128) * 128 + 128 * 4),
    ],
    ids=str,
)
def test_bytes_of_a_stage_are_expected_whoever_sends_them(
    spec: str, settings: dict[str, int], size: int
) -> None:
    cuda, _ = emitted(spec, **settings)
    assert re.findall(r"mbarrier_arrive_expect\(ab_full.*, (\d+)\)", cuda) == [str(size)]


def test_a_shared_operand_is_loaded_by_parts() -> None:
    _, manifest = emitted("hopper_bf16", CLUSTER_M=2, CLUSTER_N=2)
    boxes = {each["tensor"]: each["box"] for each in manifest["tensor_maps"]}
    assert boxes == {"a": [64, 64], "b": [128, 64], "d": [128, 64]}


def test_the_release_publishes_no_writes() -> None:
    cuda, _ = emitted("hopper_bf16")
    body = cuda[cuda.index("DEVICE void math_task") :]
    assert "mbarrier_arrive_cluster" in body
    arrive = cuda[cuda.index("DEVICE void mbarrier_arrive_cluster") :]
    assert "release.cluster" not in arrive[: arrive.index("}\n")]


def test_the_kernel_is_launched_without_k() -> None:
    _, manifest = emitted("hopper_bf16")
    assert manifest["dims"]["k"]["min"] == 0
