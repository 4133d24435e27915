"""Scale factors of products, bit by bit: descriptors, where blocks lie, and what goes with what."""

from __future__ import annotations

import pytest

from tsc.ops.block_scales import SCALINGS, Scaling, blocks_of, scale_words, scaled_descriptor, scaling


def of(a: str, factor: str) -> Scaling:
    found = scaling(a, a, factor, factor)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("a", "b", "factor", "kind", "block", "per_step"),
    [
        ("e2m1", "e2m1", "e4m3", "mxf4nvf4.block_scale.block16", 16, 4),
        ("e2m1", "e2m1", "u8", "mxf4.block_scale.block32", 32, 2),
        ("e4m3", "e4m3", "u8", "mxf8f6f4.block_scale.block32", 32, 1),
        ("e5m2", "e4m3", "u8", "mxf8f6f4.block_scale.block32", 32, 1),
    ],
)
def test_the_kind_follows_from_the_types(
    a: str, b: str, factor: str, kind: str, block: int, per_step: int
) -> None:
    found = scaling(a, b, factor, factor)
    assert found is not None and (found.kind, found.block) == (kind, block)
    # An instruction takes 32 bytes of k.
    assert found.per_step(4 if a == "e2m1" else 8) == per_step


@pytest.mark.parametrize(
    "types",
    [
        ("e2m1", "e4m3", "u8", "u8"),
        ("e2m1", "e2m1", "e4m3", "u8"),
        ("e4m3", "e4m3", "e4m3", "e4m3"),
        ("bf16", "bf16", "u8", "u8"),
    ],
)
def test_other_types_do_not_go_together(types: tuple[str, str, str, str]) -> None:
    assert scaling(*types) is None


def test_every_kind_of_scale_factor_has_its_format() -> None:
    # PTX ISA: 0 ue4m3, 1 ue8m0.
    assert {factor: one.format for (_, factor), one in SCALINGS.items()} == {"e4m3": 0, "u8": 1}


def test_the_descriptor_of_four_bits() -> None:
    # E2M1 is 1 in both formats, N / 8 from bit 17, M / 16 from bit 24.
    word = scaled_descriptor(of("e2m1", "e4m3"), m=128, n=128, a="e2m1", b="e2m1")
    assert word == 1 << 7 | 1 << 10 | 16 << 17 | 8 << 24 == 0x08200480
    assert scaled_descriptor(of("e2m1", "u8"), m=128, n=256, a="e2m1", b="e2m1") == 0x08200480 + (
        16 << 17
    ) + (1 << 23)


def test_the_descriptor_of_eight_bits() -> None:
    how = of("e4m3", "u8")
    assert scaled_descriptor(how, m=128, n=128, a="e4m3", b="e4m3") == 1 << 23 | 16 << 17 | 8 << 24
    mixed = scaled_descriptor(how, m=128, n=128, a="e5m2", b="e4m3")
    assert mixed == 1 << 7 | 1 << 23 | 16 << 17 | 8 << 24
    # Which byte of the columns: that of b in bits 4 and 5, that of a in bits 29 and 30.
    word = scaled_descriptor(how, m=128, n=128, a="e4m3", b="e4m3", scale_a=3, scale_b=2)
    assert word == 3 << 29 | 2 << 4 | 1 << 23 | 16 << 17 | 8 << 24


@pytest.mark.parametrize(("a", "scale"), SCALINGS)
def test_the_descriptor_of_a_pair_has_the_rows_of_both(a: str, scale: str) -> None:
    alone, both = (scaled_descriptor(of(a, scale), m=m, n=256, a=a, b=a) for m in (128, 256))
    # M without its 7 lower bits in bits 27 and 28.
    assert (alone >> 27 & 3, both >> 27 & 3) == (128 >> 7, 256 >> 7)
    assert alone ^ both == 3 << 27


def test_the_descriptor_of_a_block() -> None:
    # Version 1 at bit 46, no swizzle, 128 bytes from one group of 8 rows of 16 bytes to the next.
    assert scale_words() == 1 << 46 - 32 | 128 >> 4 == 0x00004008


@pytest.mark.parametrize(
    ("shape", "bits", "blocks"),
    [
        ((1, 4, 2, 256), 8, (1, 4)),
        ((2, 4, 512), 8, (2, 4)),
        ((2, 4, 32, 16), 8, (2, 4)),
        ((4, 512), 8, (1, 4)),
        ((2048,), 8, (1, 4)),
        ((128, 3), 8, None),
        ((2, 4, 256), 8, (1, 4)),
        ((2, 2, 128), 32, (2, 2)),
    ],
)
def test_blocks_of_a_buffer(shape: tuple[int, ...], bits: int, blocks: tuple[int, int] | None) -> None:
    assert blocks_of(shape, bits) == blocks
