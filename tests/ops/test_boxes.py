"""Boxes: the instructions of a cut write every element of a buffer once, where the buffer's views look for
it.
"""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsc.ops.boxes import MOST, cut, largest_part


def place(shape: tuple[int, ...], bits: int, swizzle: int, at: tuple[int, ...]) -> int:
    """The byte of an element before the swizzle's exchange of chunks, which the hardware makes by address."""
    row = 0
    for extent, index in zip(shape[:-1], at[:-1], strict=True):
        row = row * extent + index
    size = bits // 8
    if not swizzle:
        return (row * shape[-1] + at[-1]) * size
    span = swizzle // size
    return (at[-1] // span * prod(shape[:-1]) + row) * swizzle + at[-1] % span * size


def written(
    shape: tuple[int, ...], bits: int, swizzle: int, part: tuple[int, ...] | None = None
) -> dict[int, tuple[int, ...]]:
    """Byte to coordinates, as the instructions of the cut write them: each box lies densely from its address
    on.
    """
    plan = cut(shape, bits, swizzle, part)
    assert plan is not None
    assert all(0 < extent <= MOST for extent in plan.box)
    found: dict[int, tuple[int, ...]] = {}
    for index in product(*map(range, plan.counts)):
        base = sum(i * step for i, step in zip(index, plan.steps, strict=True))
        for number, inside in enumerate(product(*map(range, plan.box))):
            byte = base + number * bits // 8
            assert byte not in found
            found[byte] = tuple(i * e + o for i, e, o in zip(index, plan.box, inside, strict=True))
    return found


@st.composite
def buffers(draw: st.DrawFn) -> tuple[tuple[int, ...], int, int]:
    bits = draw(st.sampled_from((8, 16, 32)))
    swizzle = draw(st.sampled_from((0, 32, 64, 128)))
    unit = (swizzle or 16) * 8 // bits
    inner = unit * draw(st.integers(1, 6))
    outer = draw(st.lists(st.sampled_from((1, 2, 3, 8, 17)), max_size=2))
    return (*outer, inner), bits, swizzle


@given(buffers())
def test_every_element_is_written_where_it_is_read(buffer: tuple[tuple[int, ...], int, int]) -> None:
    shape, bits, swizzle = buffer
    expected = {place(shape, bits, swizzle, at): at for at in product(*map(range, shape))}
    assert written(shape, bits, swizzle) == expected


@pytest.mark.parametrize(
    ("shape", "bits", "swizzle"),
    [
        ((300, 64), 16, 128),
        ((2, 300, 64), 16, 0),
        ((3, 512), 32, 0),
        ((264,), 32, 0),
        ((2, 300, 128), 16, 128),
    ],
)
def test_more_than_256_elements_take_several_boxes(shape: tuple[int, ...], bits: int, swizzle: int) -> None:
    expected = {place(shape, bits, swizzle, at): at for at in product(*map(range, shape))}
    assert written(shape, bits, swizzle) == expected


def test_a_share_keeps_the_whole_buffers_distances() -> None:
    plan = cut((64, 128), 16, 128, (32, 128))
    assert plan is not None
    assert (plan.box, plan.counts, plan.steps) == ((32, 64), (1, 2), (32 * 128, 64 * 128))


@pytest.mark.parametrize(("shape", "bits", "swizzle"), [((4, 12), 8, 0), ((4, 48), 16, 128), ((4, 3), 32, 0)])
def test_an_inner_extent_of_broken_units_has_no_cut(shape: tuple[int, ...], bits: int, swizzle: int) -> None:
    assert cut(shape, bits, swizzle) is None


@pytest.mark.parametrize(
    ("extent", "unit", "part"), [(256, 1, 256), (257, 1, 1), (300, 1, 150), (2056, 8, 8), (12, 8, 0)]
)
def test_parts_divide(extent: int, unit: int, part: int) -> None:
    assert largest_part(extent, unit) == part
