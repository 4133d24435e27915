"""What the tensor core of sm_100 is told in one word: where a matrix lies, and what an instruction does.

Sources: PTX ISA, tcgen05: "shared memory descriptor" and "instruction descriptor".
"""

from __future__ import annotations

from typing import Literal

UNIT = 16  # bytes in which the matrix descriptor counts
VERSION = 1  # of the matrix descriptor on sm_100

SWIZZLES = {0: 0, 32: 6, 64: 4, 128: 2}
"""Swizzle mode by the span in bytes."""

Kind = Literal["f16", "tf32", "f8f6f4"]

KINDS: dict[str, Kind] = {
    "f16": "f16",
    "bf16": "f16",
    "tf32": "tf32",
    "e4m3": "f8f6f4",
    "e5m2": "f8f6f4",
    "e2m1": "f8f6f4",
}
"""Kind of instruction by operand type."""

FORMATS = {"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "e2m1": 5}
"""Format of an operand, each within its kind."""

RESULTS = {"f16": 0, "f32": 1}
"""Format of the accumulator."""


def matrix_descriptor(*, address: int, leading: int, stride: int, swizzle: int) -> int:
    """Return the 64 bits that say where a matrix lies in shared memory.

    `address` and both offsets are bytes, multiples of 16 below 256 KiB; `swizzle` is the span in bytes, and
    the matrix begins on its pattern. ValueError for what has no place in the word.
    """
    word = VERSION << 46 | SWIZZLES[swizzle] << 61
    for value, bit, what in ((address, 0, "address"), (leading, 16, "leading"), (stride, 32, "stride")):
        if value % UNIT or not 0 <= value < 1 << 14 + 4:
            raise ValueError(f"{what} is {value:,} bytes, and no multiple of {UNIT} below 262,144")
        word |= value // UNIT << bit
    return word


def instruction_descriptor(
    *, m: int, n: int, d: str, a: str, b: str, a_mn: bool = False, b_mn: bool = False
) -> int:
    """Return the 32 bits that say what an instruction multiplies.

    `m` is that of the pair where two CTAs multiply together; operands are K-major unless said otherwise.
    ValueError for types that no instruction takes together.
    """
    if KINDS[a] != KINDS[b]:
        raise ValueError(f"no instruction multiplies {a} by {b}")
    word = RESULTS[d] << 4 | FORMATS[a] << 7 | FORMATS[b] << 10
    return word | int(a_mn) << 15 | int(b_mn) << 16 | n >> 3 << 17 | m >> 4 << 24
