"""Block-scaled products of pairs of CTAs, as they are emitted and compiled; no GPU here runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.headers import needs_cpp
from tests.codegen.machine_code import disassembled, loop_with, words
from tests.emit.kernels import cuda, document, program_of
from tests.emit.on_host import run_on_host
from tests.emit.test_block_scales import ARCHS, ROOT, built, powers, text_of
from tests.emit.test_pairs import arrivals, inits, waits
from tsc.emit import manifest
from tsc.prove.proof import prove
from tsc.prove.translate import translate

pytest.importorskip("cuda.bindings.nvrtc")

TEXT = (ROOT / "tests/rules/matrix/scales_do_not_fit/good_pair.tsc.yaml").read_text(encoding="utf-8")


def halved(text: str = TEXT) -> str:
    """The spec with powers of two for 32 values each: half the factors of the same bytes of k."""
    text = powers(text.replace("[32, 128]", "[32, 64] ").replace("a: {dtype: e4m3, shape: [32, 64]}", "A"))
    text = text.replace("A, b: {dtype: u8, shape: [32, 32] }", "A, b: {dtype: u8, shape: [32, 64]}")
    return text.replace("A, b", "a: {dtype: u8, shape: [32, 32]}, b").replace("[2, 4, 2", "[2, 2, 2")


def of_bytes(text: str = TEXT) -> str:
    """The spec with operands of 8 bits: 128 values of k, four factors, one block."""
    text = halved(text).replace("e2m1", "e4m3").replace("BK: 256", "BK: 128").replace("loop * 2", "loop")
    text = text.replace("[32, 32]", "[32, 16]").replace("[32, 64]", "[32, 32]")
    return text.replace("[1, 2, 2, 256]", "[1, 1, 2, 256]").replace("[2, 2, 2, 256]", "[2, 1, 2, 256]")


def narrow(text: str = TEXT) -> str:
    """The spec with 128 columns, of which each CTA has 64 and the factors of all."""
    text = text.replace("BN: 256", "BN: 128").replace("[2, 4, 2, 256]", "[1, 4, 2, 256]")
    return text.replace("[32, 128]", "[32, 64]").replace("tile.n * 2", "tile.n")


SPECS = {"nvfp4": TEXT, "narrow": narrow(), "mxfp4": halved(), "mxfp8": of_bytes()}
FORMS = {  # kind, word, products and copies of a block of k
    "nvfp4": ("mxf4nvf4.block_scale.block16", "UTCOMMA", 4, 12),
    "narrow": ("mxf4nvf4.block_scale.block16", "UTCOMMA", 4, 8),
    "mxfp4": ("mxf4.block_scale.block32", "UTCOMMA", 4, 6),
    "mxfp8": ("mxf8f6f4.block_scale.block32", "UTCQMMA", 4, 3),
}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("spec", SPECS)
def test_what_a_block_of_k_consists_of(spec: str, arch: str, tmp_path: Path) -> None:
    kind, word, products, copies = FORMS[spec]
    text_of(SPECS[spec])
    made = built(SPECS[spec], arch)
    forms = {
        f"tcgen05.mma.cta_group::2.kind::{kind} [": products,
        "tcgen05.cp.cta_group::2.32x128b.warpx4 [": copies,
        "cta_group::1": 0,
    }
    assert {form: made.ptx.count(form) for form in forms} == forms
    text = disassembled(made.cubin, tmp_path)
    inner = loop_with(word, text)
    order = [it for it in inner if it in (word, "UTCCP")]
    assert order == ["UTCCP"] * copies + [word] * products and inner.count("UTCBAR") == 1
    every = re.findall(rf"\b(?:{word}|UTCCP)(?:\.\w+)*", text)
    assert len(every) == products + copies and all("2CTA" in one for one in every)
    assert loop_with("UTMALDG", text).count("UTMALDG") == 4
    assert not {"LDL", "STL"} & set(words(text))


@pytest.mark.parametrize(
    ("spec", "name", "descriptor"),
    [
        # M = 256 >> 7 from bit 27, N >> 3 from bit 17; ue8m0 is 1 at bit 23.
        (TEXT, "mma_m256n256k64_f32_e2m1_by_e4m3_pair", 2 << 27 | 32 << 17 | 1 << 10 | 1 << 7),
        (narrow(), "mma_m256n128k64_f32_e2m1_by_e4m3_pair", 2 << 27 | 16 << 17 | 1 << 10 | 1 << 7),
        (halved(), "mma_m256n256k64_f32_e2m1_by_u8_pair", 2 << 27 | 1 << 23 | 32 << 17 | 1 << 10 | 1 << 7),
        (of_bytes(), "mma_m256n256k32_f32_e4m3_by_u8_pair", 2 << 27 | 1 << 23 | 32 << 17),
    ],
    ids=["nvfp4", "narrow", "mxfp4", "mxfp8"],
)
def test_rows_and_columns_are_those_of_both(spec: str, name: str, descriptor: int) -> None:
    text = text_of(spec)
    assert f"DEVICE void {name}(" in text and f'"r"(0x{descriptor:08x}' in text


def test_factors_of_all_columns_stand_side_by_side() -> None:
    text = text_of(TEXT)
    # Of `a` the blocks of a CTA's own rows.
    assert "tcgen05_copy_scales<2>(scales + 4 * block, blocks + 32 * block);" in text
    # Of each block of k the first 128 columns, then the others, which lie 4 blocks of 512 bytes further on.
    assert "tcgen05_copy_scales<2>(columns + 8 * block, blocks_2 + 32 * block);" in text
    assert "tcgen05_copy_scales<2>(columns + 8 * block + 4, blocks_2 + 32 * block + 128);" in text
    assert re.search(r"scales \+ step \* 4,\s+scale_right \+ step \* 8,", text)


def test_the_leader_alone_copies_and_both_load() -> None:
    text = text_of(TEXT)
    kernel = text[text.rindex("__global__") :]
    assert re.search(r"\(cluster_rank\(\) & 1\) == 0\) \{\s+if \(elect_one\(\)\) mma_task\(", kernel)
    assert text.count("tma_load_pair(") == 4
    # Of both CTAs: 128 rows of 128 bytes of `a` and of `b`, 4 blocks of factors of `a` and 8 of `b`.
    assert f"mbarrier_arrive_expect(ab_full + 8 * ab_write.stage, {2 * (2 * 128 * 128 + 12 * 512)})" in text


def test_who_copies_runs_in_the_leader_without_a_product_of_its_own() -> None:
    copies = "              - {tcgen05_cp: scales.a, from: ab.scale_a}\n"
    alone = TEXT[: TEXT.index(copies)] + TEXT[TEXT.index("              - release: ab") :]
    text = alone.replace("- wait: ab\n", "- wait: ab\n" + copies)
    assert program_of(document(text)).task("mma").ctas == "leader"


@pytest.mark.parametrize("spec", SPECS)
def test_as_many_arrive_as_a_barrier_is_set_up_for(spec: str) -> None:
    text = text_of(SPECS[spec])
    count, come, places = inits(text), arrivals(text, 2), waits(text, 2)
    assert {place: come[place] for place in places} == {place: count[place[0]] for place in places}
    assert {place for place in come if come[place]} <= places


LOADED = "to: ab.scale_b}"
SHARED = {  # CTAs, the cluster, how the factors of `b` come to all, and the pairs that each CTA hears of
    "by halves": (2, "{m: 2}", "multicast: m", {1}),
    "by the first one": (2, "{m: 2}", "multicast: m, share: leader", {1}),
    "of four": (4, "{m: 4}", "multicast: m, share: leader", {1, 2}),
    "beside another pair": (4, "{m: 2, n: 2}", "multicast: m", {2}),
}


@needs_cpp
@pytest.mark.parametrize("how", SHARED)
def test_factors_that_both_share(how: str, tmp_path: Path) -> None:
    ctas, cluster, option, pairs = SHARED[how]
    spec = TEXT.replace("{m: 2}", cluster).replace(LOADED, LOADED.replace("}", f", {option}}}"))
    if "n: 2" in cluster:
        spec = spec.replace("to: ab.a}", "to: ab.a, multicast: n}")
    program = program_of(document(spec))
    found = translate(program)
    assert prove(found.system).outcome == "proved"
    # One commit stands for both of a pair.
    counts = {
        barrier.count
        for barrier, source in zip(found.system.barriers, found.barriers, strict=True)
        if (source.owner, source.side) == ("ab", "empty")
    }
    assert counts == pairs
    facts = manifest(program, document=document(spec))
    ran = run_on_host(cuda(document(spec)), facts, {"m": 1400, "n": 640, "k": 2048}, tmp_path)
    assert ran.counts["phases"] > 0 and facts["cluster"][0] * facts["cluster"][1] == ctas


def test_a_copy_that_the_proof_does_not_order_is_found() -> None:
    """The proof knows that a copy reads the stages of both CTAs: given back before it, they race."""
    early = TEXT.replace(
        "              - wait: ab\n", "              - wait: ab\n              - release: ab\n"
    )
    early = early.replace("                accumulate: iter > 0\n              - release: ab\n", "REST")
    early = early.replace("REST", "                accumulate: iter > 0\n")
    assert early != TEXT and prove(translate(program_of(document(early))).system).outcome != "proved"


def test_without_pairs_nothing_changes() -> None:
    alone = TEXT.replace("cta_group: 2", "cta_group: 1").replace("[BN // 2, BK]", "[BN, BK]")
    text = cuda(document(alone), headers=False)
    assert "tcgen05_copy_scales(" in text and "<2>" not in text and "_pair" not in text
