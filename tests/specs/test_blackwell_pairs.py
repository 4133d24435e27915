"""Shipped kernels for Blackwell whose CTAs work together, as they are built. There is no GPU here that runs
them: they are proved, compiled for every target of theirs, and held by what the machine code consists of.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.codegen.machine_code import loop_with, words
from tests.emit.kernels import document, program_of
from tests.emit.test_pairs import arrivals, inits, waits
from tests.specs.test_blackwell import ARCHS, LOCAL, ROOT, code, tsc

SPECS = ("gemm_2cta", "gemm_bf16_persistent")
POLICIES = ("clc", "static", "atomic", "grid")
TWICE = ("-D", "CN=2")  # two CTAs, or pairs, along `n`


def forms(text: str, *stems: str) -> dict[str, int]:
    """How often each form of some instructions stands in machine code."""
    found = re.findall(rf"\b(?:{'|'.join(stems)})(?:\.\w+)*", text)
    return dict(Counter(found))


def ptx_of(spec: str, folder: Path, arch: str, *options: str) -> str:
    tsc("build", spec, "--arch", arch, "--emit", "ptx", "-o", str(folder / "k.ptx"), *options)
    return (folder / "k.ptx").read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_short_and_says_that_it_has_not_been_run(spec: str) -> None:
    text = (ROOT / f"{spec}.tsc.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert "not yet run on a GPU" in " ".join(text.partition("\ntsc: 1")[0].replace("\n#", "").split())


@pytest.mark.parametrize("more", [(), TWICE], ids=["once", "twice"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("spec", SPECS)
def test_it_is_proved_whoever_hands_out_the_tiles(spec: str, policy: str, more: tuple[str, ...]) -> None:
    told = tsc("check", spec, "--set", f"resources.tiles.policy={policy}", *more)
    assert "proved for every size and trip count" in told and "no findings" in told


@pytest.mark.parametrize("more", [("-D", "CM=1"), ("-D", "CM=4"), ("-D", "CM=4", *TWICE)], ids=str)
def test_the_persistent_gemm_is_proved_for_other_clusters(more: tuple[str, ...]) -> None:
    assert "proved for every size" in tsc("check", "gemm_bf16_persistent", *more)


# ---- machine code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_2cta_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_2cta", tmp_path, arch)
    inner = loop_with("UTCHMMA", text)
    # A block of k: 64 of it in steps of 16, and one commit that gives both operands back to both CTAs.
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (4, 1)
    assert loop_with("UTMALDG", text).count("UTMALDG") == 2
    assert forms(text, "UTCHMMA", "UTMALDG", "UTCBAR") == {
        "UTCHMMA.2CTA": 4,
        "UTMALDG.2D.2CTA": 2,
        "UTCBAR.2CTA.MULTICAST": 2,  # the other one hands over a tile
    }
    # Tensor memory is taken by both, and all of the cluster meet at the start and at the end.
    assert set(forms(text, "UTCATOMSWS")) >= {"UTCATOMSWS.2CTA.FIND_AND_SET.ALIGN"}
    assert forms(text, "UCGABAR_ARV", "UCGABAR_WAIT") == {"UCGABAR_ARV": 2, "UCGABAR_WAIT": 2}
    assert forms(text, "UGETNEXTWORKID") == {"UGETNEXTWORKID.BROADCAST": 1}
    # A tile: 4 slices of 64 columns.
    found = words(text)
    assert (found.count("LDTM"), found.count("UTMASTG")) == (4, 4)
    assert not LOCAL & set(found)


@pytest.mark.parametrize("arch", ARCHS)
def test_two_pairs_share_a(arch: str, tmp_path: Path) -> None:
    text = code("gemm_2cta", tmp_path, arch, *TWICE)
    assert forms(text, "UTCHMMA", "UTMALDG", "UTCBAR") == {
        "UTCHMMA.2CTA": 4,
        "UTMALDG.2D.MULTICAST.2CTA": 1,
        "UTMALDG.2D.2CTA": 1,
        "UTCBAR.2CTA.MULTICAST": 2,
    }
    assert not LOCAL & set(words(text))


@pytest.mark.parametrize("arch", ARCHS)
def test_the_persistent_gemm_in_machine_code(arch: str, tmp_path: Path) -> None:
    text = code("gemm_bf16_persistent", tmp_path, arch)
    inner = loop_with("UTCHMMA", text)
    # Each operand has a ring of its own, and a commit.
    assert (inner.count("UTCHMMA"), inner.count("UTCBAR")) == (4, 2)
    assert forms(text, "UTCHMMA", "UTMALDG", "UTCBAR") == {
        "UTCHMMA": 4,
        "UTMALDG.2D": 1,
        "UTMALDG.2D.MULTICAST": 1,
        "UTCBAR": 2,  # of `a` and of a tile
        "UTCBAR.MULTICAST": 1,  # of `b`, which both CTAs fill
    }
    assert forms(text, "UGETNEXTWORKID") == {"UGETNEXTWORKID.BROADCAST": 1}
    assert not LOCAL & set(words(text))


@pytest.mark.parametrize("spec", SPECS)
def test_one_word_decides_who_hands_out_the_tiles(spec: str, tmp_path: Path) -> None:
    text = code(spec, tmp_path, "sm_100a", "--set", "resources.tiles.policy=static")
    assert "UGETNEXTWORKID" not in text
    assert not LOCAL & set(words(text))


# ---- PTX ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
def test_gemm_2cta_in_ptx(arch: str, tmp_path: Path) -> None:
    ptx = ptx_of("gemm_2cta", tmp_path, arch)
    load = "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"
    arrive = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
    counts = {
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32": 1,
        "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned": 1,
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32": 1,
        "tcgen05.mma.cta_group::2.kind::f16": 4,
        f"{load} [": 2,
        f"{arrive} [": 2,
        "tcgen05.commit": 2,
        "cta_group::1": 0,
        "clusterlaunchcontrol.try_cancel": 1,
    }
    assert {form: ptx.count(form) for form in counts} == counts
    # Loads of the odd CTA signal at the even one: bit 24 is cleared, here together with those below 8 bytes.
    (barrier,) = set(
        re.findall(re.escape(load) + r" \[%r\d+\], \[%rd\d+, \{%r\d+, %r\d+\}\], \[(%r\d+)\]", ptx)
    )
    assert re.search(rf"and\.b32\s+{barrier}, %r\d+, -167772(?:17|24);", ptx)
    # 0x10400490: 256 rows and columns, f32 of bf16 by bf16, both K-major.
    assert re.search(rf"\b{0x10400490}\b", ptx)
    # Both CTAs are done before either gives tensor memory back.
    assert (
        ptx.rindex("barrier.cluster.arrive.release")
        < ptx.rindex("barrier.cluster.wait")
        < ptx.index("dealloc")
    )


def test_the_persistent_gemm_in_ptx(tmp_path: Path) -> None:
    ptx = ptx_of("gemm_bf16_persistent", tmp_path, "sm_100a")
    assert "cta_group::2" not in ptx
    assert (ptx.count("griddepcontrol.wait"), ptx.count("griddepcontrol.launch_dependents")) == (1, 1)
    assert ptx.count(".multicast::cluster.b64") == 1 and ptx.count("tcgen05.commit") == 3


# ---- barriers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "ctas", "more"),
    [
        ("gemm_2cta", 2, ()),
        ("gemm_2cta", 4, TWICE),
        ("gemm_bf16_persistent", 2, ()),
        ("gemm_bf16_persistent", 4, TWICE),
        ("gemm_bf16_persistent", 1, ("-D", "CM=1", "--set", "resources.tiles.policy=static")),
    ],
    ids=str,
)
def test_as_many_arrive_as_a_barrier_is_set_up_for(spec: str, ctas: int, more: tuple[str, ...]) -> None:
    text = tsc("emit", spec, *more)
    text = text[text.index("// ---- constants") :]
    count, come, places = inits(text), arrivals(text, ctas), waits(text, ctas)
    assert {place: come[place] for place in places} == {place: count[place[0]] for place in places}
    assert {place for place in come if come[place]} <= places


def test_the_counts_of_the_persistent_gemm_by_hand() -> None:
    text = tsc("emit", "gemm_bf16_persistent")
    assert +arrivals(text[text.index("// ---- constants") :], 2) == {
        ("a_ring_full", 0): 1,  # its own loader's announcement, in each CTA
        ("a_ring_full", 1): 1,
        ("a_ring_empty", 0): 1,  # nobody else loads it
        ("a_ring_empty", 1): 1,
        ("b_ring_full", 0): 1,
        ("b_ring_full", 1): 1,
        ("b_ring_empty", 0): 2,  # both CTAs read what each loads of `b`
        ("b_ring_empty", 1): 2,
        ("acc_full", 0): 1,
        ("acc_full", 1): 1,
        ("acc_empty", 0): 4,  # the warps of `store`
        ("acc_empty", 1): 4,
        ("tiles_full", 0): 1,
        ("tiles_full", 1): 1,
        ("tiles_empty", 0): 2 * (4 + 1 + 1 + 1 + 1),  # store, load_a, load_b, mma and who asks
    }


def test_a_pair_takes_all_of_tensor_memory() -> None:
    text = (ROOT / "gemm_2cta.tsc.yaml").read_text(encoding="utf-8")
    program = program_of(document(text))
    assert program.tmem_columns == 512
    assert program.task("mma").ctas == "leader"
    assert program_of(document(text.replace("    ctas: leader", "    # ctas"))).task("mma").ctas == "leader"
