"""Block-scaled products as they are emitted and compiled; there is no GPU here that runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.machine_code import disassembled, loop_with, words
from tests.emit.kernels import cuda, document, program_of
from tsc.check import check_reading
from tsc.emit import manifest
from tsc.source import parse
from tsc.spec.overrides import parse_overrides
from tsc.toolchain.build import Built, compile_source

pytest.importorskip("cuda.bindings.nvrtc")

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "tests/rules/matrix/scales_do_not_fit/good.tsc.yaml").read_text(encoding="utf-8")
ARCHS = ("sm_100a", "sm_103a")


def powers(text: str = TEXT) -> str:
    """The spec with powers of two for 32 values each: half the factors of the same bytes of k."""
    text = (
        text.replace("e4m3", "u8").replace("[32, 64]", "[32, 32]").replace("[1, 4, 2, 256]", "[1, 2, 2, 256]")
    )
    return text.replace('"cdiv(k, 64)"', '"cdiv(k, 128)"').replace("loop * 4", "loop * 2")


def bytes_(text: str = TEXT) -> str:
    """The spec with operands of 8 bits: 128 values of k, four factors, one block."""
    text = powers(text).replace("e2m1", "e4m3").replace("BK: 256", "BK: 128").replace("[32, 32]", "[32, 16]")
    return text.replace("[1, 2, 2, 256]", "[1, 1, 2, 256]").replace("loop * 2", "loop")


def wide(text: str) -> str:
    """The spec with 256 columns, which have twice as many blocks of factors."""
    text = text.replace("BN: 128", "BN: 256").replace(
        "scale_b: {dtype: e4m3, shape: [1,", "scale_b: {dtype: e4m3, shape: [2,"
    )
    text = text.replace("[block.y, loop * 4", "[block.y * 2, loop * 4")
    return text.replace("b: {dtype: e4m3, shape: [32, 64]}", "b: {dtype: e4m3, shape: [32, 128]}")


def text_of(spec: str) -> str:
    """The CUDA of a spec without headers, which has to be sound and proved."""
    report = check_reading(parse(spec, "spec.tsc.yaml", "yaml"), parse_overrides((), ()))
    assert [it.message for it in report.found] == []
    return cuda(document(spec), headers=False)


def built(spec: str, arch: str) -> Built:
    """What the compiler makes of a spec, without a word and without local memory."""
    made = compile_source(cuda(document(spec)), {}, arch)
    assert made.diagnostics == ()
    assert (made.usage.spill_stores, made.usage.spill_loads, made.usage.stack_bytes) == (0, 0, 0)
    return made


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("spec", "word", "products", "copies"),
    [
        (TEXT, "UTCOMMA", 4, 8),
        (wide(TEXT), "UTCOMMA", 4, 12),
        (powers(), "UTCOMMA", 4, 4),
        (bytes_(), "UTCQMMA", 4, 2),
    ],
    ids=["nvfp4", "wide", "mxfp4", "mxfp8"],
)
def test_the_machine_code_of_a_block_of_k(
    spec: str, word: str, products: int, copies: int, arch: str, tmp_path: Path
) -> None:
    text_of(spec)
    text = disassembled(built(spec, arch).cubin, tmp_path)
    inner = loop_with(word, text)
    assert (inner.count(word), inner.count("UTCCP"), inner.count("UTCBAR")) == (products, copies, 1)
    # Every copy stands before every product, in the order in which the tensor core is asked.
    order = [it for it in inner if it in (word, "UTCCP")]
    assert order == ["UTCCP"] * copies + [word] * products
    assert loop_with("UTMALDG", text).count("UTMALDG") == 4
    assert not {"LDL", "STL"} & set(words(text))


def test_factors_of_each_step() -> None:
    text = text_of(TEXT)
    assert '"r"(0x08200480), "r"(scale_a), "r"(scale_b)' in text
    assert "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16" in text
    call = re.search(r"mma_m128n128k64_f32_e2m1_by_e4m3\(acc, (.*?)\);", text, re.S)
    assert call is not None
    given = " ".join(call[1].split())
    assert given == (
        "left + 2 * step, right + 2 * step, scales + step * 4, scale_right + step * 4, step > 0 || loop > 0"
    )


def test_columns_of_two_blocks_stand_side_by_side() -> None:
    text = text_of(wide(TEXT))
    # Of each block of k the first 128 columns, then the others, which lie 4 blocks of 512 bytes further on.
    assert "tcgen05_copy_scales(columns + 8 * block, blocks_2 + 32 * block);" in text
    assert "tcgen05_copy_scales(columns + 8 * block + 4, blocks_2 + 32 * block + 128);" in text
    assert re.search(r"scale_right \+ step \* 8", text)


def test_where_factors_begin_in_their_columns() -> None:
    text = text_of(powers())
    assert '"r"(0x08a00480 | (first << 29) | (first << 4))' in text
    assert re.search(r"scales \+ step / 2 \* 4,\s+scale_right \+ step / 2 \* 4,\s+step % 2 \* 2,", text)
    text = text_of(bytes_())
    assert '"r"(0x08a00000 | (first << 29) | (first << 4))' in text
    assert re.search(r"scales,\s+scale_right,\s+step % 4,", text)


def test_elements_of_four_bits_are_loaded_by_bytes() -> None:
    text = text_of(TEXT)
    assert re.search(r"tma_load\(ab \+ ab_write.stage \* AB_STAGE, a_map, [^;]*, loop \* 128,\s", text)
    found = manifest(program_of(document(TEXT)), document=document(TEXT))
    boxes = {each["tensor"]: (each["box"], each["swizzle"]) for each in found["tensor_maps"]}
    assert boxes["a"] == ([128, 128], 128) and boxes["scale_a"] == ([1, 4, 2, 256], 0)
    assert [it["text"] for it in found["asserts"]] == [
        "`tma_load` of `a` by whole bytes needs `k` to be a multiple of 2"
    ]
    # 128 rows of 128 bytes of both operands, and 4 blocks of factors of both.
    assert re.search(r"mbarrier_arrive_expect\(ab_full[^,]*, 36864\)", text)


def test_odd_places_are_refused() -> None:
    odd = TEXT.replace("[block.x * BM, loop * BK], to: ab.a", "[block.x * BM, loop * BK + 1], to: ab.a")
    report = check_reading(parse(odd, "spec.tsc.yaml", "yaml"), parse_overrides((), ()))
    assert ["16 bytes of a row, 32 elements of `a`" in it.message for it in report.found] == [True]
