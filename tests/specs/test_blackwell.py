"""Shipped kernels for Blackwell as they are built. There is no GPU here that runs them: they are proved,
compiled for every target of theirs, and held by what the machine code consists of.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.codegen.machine_code import disassembled, loop_with, words
from tsc.cli.app import app

pytest.importorskip("cuda.bindings.nvrtc")

ROOT = Path(__file__).resolve().parents[2] / "specs" / "blackwell"
ARCHS = ("sm_100a", "sm_103a")
LOCAL = {"LDL", "STL"}  # accesses to local memory


def tsc(command: str, spec: str, *options: str) -> str:
    done = CliRunner().invoke(app, [command, str(ROOT / f"{spec}.tsc.yaml"), *options])
    assert done.exit_code == 0, done.output
    return done.output


def code(spec: str, folder: Path, arch: str, *options: str) -> str:
    """The machine code of a spec, which has to be built without spills and without a word."""
    path = folder / "kernel.cubin"
    told = tsc("build", spec, "--arch", arch, "-v", "-o", str(path), *options)
    assert re.search(r"spills +none", told)
    assert "TSC" not in told
    return disassembled(path.read_bytes(), folder)


# ---- gemm_bf16 ---------------------------------------------------------------------------------------------


def test_gemm_bf16_is_proved_and_short() -> None:
    assert "proved for every size and trip count" in tsc("check", "gemm_bf16")
    assert len((ROOT / "gemm_bf16.tsc.yaml").read_text(encoding="utf-8").splitlines()) < 150


def test_gemm_bf16_says_that_it_has_not_been_run() -> None:
    head = (ROOT / "gemm_bf16.tsc.yaml").read_text(encoding="utf-8").partition("\ntsc: 1")[0]
    assert "not yet run on a GPU" in head


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_bf16_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_bf16", tmp_path, arch)
    found = words(text)
    inner = loop_with("UTCHMMA", text)
    # A block of k: 64 of it in steps of 16, and one commit that gives both operands back.
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (4, 1)
    # Its loads.
    assert loop_with("UTMALDG", text).count("UTMALDG") == 2
    # A tile: one more commit, and 8 slices of 32 columns, each loaded, rounded to 64 bytes a row, and stored.
    assert (found.count("UTCHMMA"), found.count("UTCBAR")) == (4, 2)
    assert (found.count("LDTM"), found.count("STS"), found.count("UTMASTG")) == (8, 8 * 4 + 2, 8)
    assert not LOCAL & set(found)


@pytest.mark.parametrize(
    ("settings", "blocks"),
    [(("BK=128", "STAGES=2"), 8), (("BN=128", "STAGES=6"), 4), (("BM=64", "BN=64"), 4)],
    ids=str,
)
def test_gemm_bf16_of_other_tiles(settings: tuple[str, ...], blocks: int, tmp_path: Path) -> None:
    options = [part for setting in settings for part in ("-D", setting)]
    columns = int(next((s.removeprefix("BN=") for s in settings if s.startswith("BN=")), "256"))
    options += ["--set", f"expect.tmem_columns={2 * columns}"]
    text = code("gemm_bf16", tmp_path, "sm_100a", *options)
    inner = loop_with("UTCHMMA", text)
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (blocks, 1)
    assert not LOCAL & set(words(text))


def test_gemm_bf16_in_ptx(tmp_path: Path) -> None:
    tsc("build", "gemm_bf16", "--arch", "sm_100a", "--emit", "ptx", "-o", str(tmp_path / "k.ptx"))
    ptx = (tmp_path / "k.ptx").read_text(encoding="utf-8")
    counts = {
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32": 1,
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned": 1,
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32": 1,
        "tcgen05.mma.cta_group::1.kind::f16": 4,
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64": 2,
        "tcgen05.ld.sync.aligned.32x32b.x32.b32": 8,
        "cta_group::2": 0,
    }
    assert {form: ptx.count(form) for form in counts} == counts
    # 0x08400490: 128 rows, 256 columns, f32 of bf16 by bf16, both K-major.
    assert len(re.findall(r"\b138413200\b", ptx)) >= 1
