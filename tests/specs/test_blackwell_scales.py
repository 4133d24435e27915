"""Products of few bits and split products for Blackwell, as they are built. No GPU here runs them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.machine_code import loop_with, words
from tests.specs.test_blackwell import ARCHS, LOCAL, ROOT, code, tsc
from tests.specs.test_blackwell_pairs import POLICIES, forms, ptx_of

SPECS = ("gemm_nvfp4", "gemm_nvfp4_2cta", "gemm_splitk")


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_proved_and_short_and_says_that_it_has_not_been_run(spec: str) -> None:
    assert "proved for every size and trip count" in tsc("check", spec)
    text = (ROOT / f"{spec}.tsc.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert "not yet run on a GPU" in text.partition("\ntsc: 1")[0].replace("\n#", "")


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_nvfp4_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_nvfp4", tmp_path, arch)
    inner = loop_with("UTCOMMA", text)
    # 256 of k in steps of 64, 4 blocks of factors of either operand, and one commit that gives all of it back
    assert (inner.count("UTCOMMA"), inner.count("UTCCP"), inner.count("UTCBAR")) == (4, 8, 1)
    # Both operands and their factors.
    assert loop_with("UTMALDG", text).count("UTMALDG") == 4
    # Four factors of a row to an instruction, each for 16 values: the two targets spell it in different ways.
    assert text.count("UTCOMMA.4X" if arch == "sm_100a" else "UTCOMMA.BLOCK16") == 4
    assert not LOCAL & set(words(text))


@pytest.mark.parametrize("columns", [128, 256])
def test_gemm_nvfp4_of_other_tiles(columns: int, tmp_path: Path) -> None:
    stages, tiles = (5, 2) if columns == 128 else (3, 1)
    needed = tiles * columns + 16 + 16 * columns // 128
    options = ["-D", f"BN={columns}", "-D", f"STAGES={stages}", "--set", f"resources.acc.stages={tiles}"]
    text = code("gemm_nvfp4", tmp_path, "sm_100a", *options, "--set", f"expect.tmem_columns={needed}")
    inner = loop_with("UTCOMMA", text)
    assert (inner.count("UTCOMMA"), inner.count("UTCCP")) == (4, 4 + 4 * columns // 128)


@pytest.mark.parametrize("more", [(), ("-D", "CN=2")], ids=["once", "twice"])
@pytest.mark.parametrize("policy", POLICIES)
def test_gemm_nvfp4_2cta_is_proved_whoever_hands_out_the_tiles(policy: str, more: tuple[str, ...]) -> None:
    told = tsc("check", "gemm_nvfp4_2cta", "--set", f"resources.tiles.policy={policy}", *more)
    assert "proved for every size and trip count" in told and "no findings" in told


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_nvfp4_2cta_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_nvfp4_2cta", tmp_path, arch)
    inner = loop_with("UTCOMMA", text)
    # 256 of k in steps of 64; 4 blocks of factors of a CTA's rows and 8 of all columns; one commit to both.
    assert (inner.count("UTCOMMA"), inner.count("UTCCP"), inner.count("UTCBAR")) == (4, 12, 1)
    assert loop_with("UTMALDG", text).count("UTMALDG") == 4
    found = forms(text, "UTCOMMA", "UTCCP", "UTMALDG", "UTCBAR")
    assert sum(found.values()) == 4 + 12 + 4 + 2 and all("2CTA" in form for form in found)
    # A tile: half of the columns at once for each of two warpgroups, which store it in two parts.
    every = words(text)
    assert (every.count("LDTM"), every.count("UTMASTG")) == (2, 4)
    assert not LOCAL & set(every)


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_nvfp4_2cta_in_ptx(arch: str, tmp_path: Path) -> None:
    ptx = ptx_of("gemm_nvfp4_2cta", tmp_path, arch)
    load = "cp.async.bulk.tensor.{}d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes{} ["
    counts = {
        "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 [": 4,
        "tcgen05.cp.cta_group::2.32x128b.warpx4 [": 12,
        load.format(2, ""): 2,
        load.format(4, ""): 1,
        load.format(4, ".multicast::cluster"): 1,  # the factors of all columns, half of them by each CTA
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [": 2,
        "tcgen05.commit": 2,
        "cta_group::1": 0,
    }
    assert {form: ptx.count(form) for form in counts} == counts
    # 256 rows and columns, e2m1 by e2m1, factors ue4m3.
    assert re.search(rf"\b{2 << 27 | 32 << 17 | 1 << 10 | 1 << 7}\b", ptx)


def test_gemm_nvfp4_reads_factors_where_they_lie() -> None:
    np: Any = pytest.importorskip("numpy")
    found = importlib.util.spec_from_file_location("nvfp4", ROOT / "gemm_nvfp4.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    m, n, k = 130, 3, 96
    numbers = np.random.default_rng(1)
    a, b = numbers.standard_normal((m, k)), numbers.standard_normal((n, k))
    of_a, of_b = numbers.standard_normal((2, 2, 2, 256)), numbers.standard_normal((1, 2, 2, 256))

    def factor(scales: Any, row: int, i: int) -> Any:
        block, s = scales.reshape(*scales.shape[:2], 512), i // 16
        return block[row // 128, s // 4, row % 32 * 16 + row % 128 // 32 * 4 + s % 4]

    d = module.reference(a=a, b=b, scale_a=of_a, scale_b=of_b, alpha=0.5, m=m, n=n, k=k)["d"]
    for row, column in [(0, 0), (1, 2), (40, 1), (127, 0), (129, 2)]:
        wanted = sum(
            a[row, i] * factor(of_a, row, i) * b[column, i] * factor(of_b, column, i) for i in range(k)
        )
        assert d[row, column] == pytest.approx(0.5 * wanted)


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_splitk_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_splitk", tmp_path, arch)
    found = words(text)
    inner = loop_with("UTCHMMA", text)
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (4, 1)
    # A slice to each of three other CTAs, and 4 slices out of tensor memory.
    assert text.count("UBLKCP.S.S") == 3
    assert (found.count("LDTM"), found.count("UTMASTG"), found.count("UTCBAR")) == (4, 1, 2)
    assert not LOCAL & set(found)
    # Nothing adds up in global memory.
    assert not {"RED", "REDG", "ATOM", "ATOMG", "UTMAREDG"} & set(found)


@pytest.mark.parametrize("splits", [2, 8])
def test_gemm_splitk_of_other_clusters(splits: int, tmp_path: Path) -> None:
    slots = ("-D", f"SPLITS={splits}", "-D", f"SN={128 // splits}", "-D", "STAGES=5")
    assert "proved" in tsc("check", "gemm_splitk", *slots)
    assert code("gemm_splitk", tmp_path, "sm_100a", *slots).count("UBLKCP.S.S") == splits - 1
