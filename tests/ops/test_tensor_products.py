"""Where the tensor core looks for the elements of an operand: by the words it is told, as the PTX ISA reads
them, held against where TMA has put them.
"""

from __future__ import annotations

from itertools import product

import pytest

from tsc.model import Reference
from tsc.ops.lowering import BufferOperand
from tsc.ops.matrices import STEP, Matrix
from tsc.ops.tensor_products import grain, high, low, rows_of
from tsc.program.storage import BITS


def matrix(shape: tuple[int, int], dtype: str, swizzle: int, turned: bool) -> Matrix:
    buffer = BufferOperand("a", dtype, BITS[dtype], shape, swizzle, turned, "a", "a")
    return Matrix(buffer, Reference("a", "a"), turned)


def swizzled(byte: int, span: int) -> int:
    """An address as the swizzle leaves it: bits 4-6 by bits 7-9, 4-5 by 7-8, 4 by 7."""
    return byte ^ (byte >> 3 & (span - 1) & ~15)


def written(one: Matrix, row: int, column: int) -> int:
    """Where TMA puts an element of the buffer: boxes as wide as the swizzle, one behind the other."""
    span, size = one.buffer.swizzle, one.buffer.bits // 8
    box, inside = divmod(column * size, span)
    return swizzled(box * one.buffer.shape[0] * span + row * span + inside, span)


def read(one: Matrix, step: int, along: int, k: int) -> int:
    """Where the tensor core looks for element (`along`, `k`) of an instruction's operand."""
    span, size = one.buffer.swizzle, one.buffer.bits // 8
    word = high(span) << 32 | low(one) + eval(one.step().replace("/", "//"), {"step": step})
    start, leading, stride = (16 * (word >> bit & 0x3FFF) for bit in (0, 16, 32))
    if one.mn:
        atom, inside = divmod(along * size, span)
        groups, rest = divmod(k, 8)
        byte = start + atom * leading + groups * stride + rest * span + inside
    else:
        groups, rest = divmod(along, 8)
        byte = start + groups * stride + rest * span + k * size
    return swizzled(byte, span)


CASES = [
    # extent, k, dtype, bytes of the swizzle, whether k is the slow dimension
    (128, 64, "bf16", 128, False),
    (256, 64, "bf16", 128, False),
    (8, 128, "f16", 128, False),
    (40, 192, "bf16", 128, False),
    (64, 32, "bf16", 64, False),
    (64, 96, "bf16", 64, False),
    (64, 16, "bf16", 32, False),
    (64, 48, "bf16", 32, False),
    (128, 32, "tf32", 128, False),
    (128, 128, "e4m3", 128, False),
    (96, 256, "e5m2", 128, False),
    (128, 64, "bf16", 128, True),
    (256, 32, "f16", 128, True),
    (96, 64, "bf16", 64, True),
    (48, 32, "bf16", 32, True),
    (128, 64, "e4m3", 128, True),
    (64, 32, "e4m3", 64, True),
]


@pytest.mark.parametrize(("extent", "k", "dtype", "swizzle", "turned"), CASES)
def test_each_element_is_looked_for_where_it_was_put(
    extent: int, k: int, dtype: str, swizzle: int, turned: bool
) -> None:
    one = matrix((k, extent) if turned else (extent, k), dtype, swizzle, turned)
    of_step = STEP * 8 // BITS[dtype]
    wrong = [
        (step, along, inner)
        for step, along, inner in product(range(k // of_step), range(extent), range(of_step))
        for at in (step * of_step + inner,)
        if read(one, step, along, inner) != written(one, *((at, along) if turned else (along, at)))
    ]
    assert wrong == []


def test_a_wrong_word_is_found() -> None:
    # Such a test can fail: read along the other dimension, elements are elsewhere.
    one = matrix((64, 64), "bf16", 128, False)
    other = matrix((64, 64), "bf16", 128, True)
    assert any(read(one, 0, along, 0) != read(other, 0, along, 0) for along in range(64))


def test_the_upper_word_does_not_depend_on_the_place() -> None:
    assert [high(span) for span in (128, 64, 32)] == [0x40004040, 0x80004020, 0xC0004010]


def test_shapes_of_one_cta_and_of_pairs() -> None:
    assert (rows_of(1), rows_of(2)) == ((64, 128), (128,))
    assert [grain(rows, group) for rows, group in ((64, 1), (128, 1), (128, 2))] == [8, 16, 32]
