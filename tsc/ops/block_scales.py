"""Products whose operands have scale factors, one for each block along k (PTX ISA, tcgen05.mma).

Factors come in blocks of 512 bytes, for 128 rows and 4 blocks of k: that of row r and block s is byte
`r % 32 * 16 + r // 32 * 4 + s`. In tensor memory a block takes 4 columns, row r being lane `r % 32` of column
`r // 32`, the same in all four quarters of the lanes (tcgen05.cp, 32x128b.warpx4).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tsc.model import Reference
from tsc.ops.descriptors import matrix_descriptor
from tsc.ops.lowering import BufferOperand, Lowering, TensorMemoryOperand
from tsc.ops.matrices import STEP, Matrix
from tsc.ops.tensor_products import high, low, matrices_text

ROWS = 128  # of a block, and of `a`
DEEP = 4  # scale factors of a row in a block
BYTES = ROWS * DEEP
COLUMNS = 4  # of a block in tensor memory
LANES = 32
UNIT = 16  # bytes in which matrix descriptors count


@dataclass(frozen=True, slots=True)
class Scaling:
    """How operands of some types are scaled: the kind of instruction, and values of k a factor is for.

    `formats` are those of the operands in the instruction's descriptor, `format` that of the scale factors.
    """

    kind: str
    block: int
    format: int
    formats: dict[str, int]

    def per_step(self, bits: int) -> int:
        """Return how many scale factors of a row one instruction takes."""
        return STEP * 8 // bits // self.block


_FOUR, _EIGHT = {"e2m1": 1}, {"e4m3": 0, "e5m2": 1}
SCALINGS = {
    ("e2m1", "e4m3"): Scaling("mxf4nvf4.block_scale.block16", 16, 0, _FOUR),
    ("e2m1", "u8"): Scaling("mxf4.block_scale.block32", 32, 1, _FOUR),
    ("e4m3", "u8"): Scaling("mxf8f6f4.block_scale.block32", 32, 1, _EIGHT),
    ("e5m2", "u8"): Scaling("mxf8f6f4.block_scale.block32", 32, 1, _EIGHT),
}
"""By the types of an operand and of its factors: `e4m3` is read without its sign, `u8` as a power of two."""


def scaling(a: str, b: str, scale_a: str, scale_b: str) -> Scaling | None:
    """Return how operands of some types are scaled, or nothing where no instruction does."""
    one, other = SCALINGS.get((a, scale_a)), SCALINGS.get((b, scale_b))
    return one if one is not None and other is not None and one.kind == other.kind else None


def scaled_descriptor(
    how: Scaling, *, m: int, n: int, a: str, b: str, scale_a: int = 0, scale_b: int = 0
) -> int:
    """Return the 32 bits that say what a scaled instruction multiplies; operands are K-major, sums `f32`.

    `scale_a` and `scale_b` say with which byte of their columns the scale factors begin.
    """
    word = how.formats[a] << 7 | how.formats[b] << 10 | how.format << 23
    return word | scale_b << 4 | n >> 3 << 17 | m >> 4 << 24 | scale_a << 29


def blocks_of(shape: tuple[int, ...], bits: int) -> tuple[int, int] | None:
    """Return how many blocks of rows and of k a buffer in shared memory has, where it is made of such.

    The first two extents count them where there are as many; else all of them are of the same rows.
    """
    size = prod(shape) * bits // 8
    if not size or size % BYTES:
        return None
    if len(shape) > 2 and prod(shape[2:]) * bits // 8 == BYTES:
        return shape[0], shape[1]
    return 1, size // BYTES


def scale_words() -> int:
    """Return the upper word of the descriptor of a block in shared memory: 8 rows of 16 bytes at a time."""
    return matrix_descriptor(address=0, leading=0, stride=8 * UNIT, swizzle=0) >> 32


@dataclass(frozen=True, slots=True)
class Instruction:
    """One scaled tcgen05.mma of 128 rows of each CTA; `n` counts the columns of all of the group.

    In a pair each CTA has the factors of its own rows of `a`, as alone, and those of all columns: tensor
    memory is organised alike for M = 128 of one CTA and M = 256 of two (PTX ISA, data path layouts D and A).
    """

    how: Scaling
    n: int
    k: int
    a: str
    b: str
    scales: str
    a_swizzle: int
    b_swizzle: int
    group: int = 1

    @property
    def m(self) -> int:
        """The rows of all CTAs of the group."""
        return self.group * ROWS

    @property
    def name(self) -> str:
        """What the wrapper is called."""
        types = self.a if self.a == self.b else f"{self.a}_{self.b}"
        spans = (self.a_swizzle, self.b_swizzle)
        more = "_pair" if self.group == 2 else ""
        more += "" if spans == (128, 128) else f"_s{spans[0]}_{spans[1]}"
        return f"mma_m{self.m}n{self.n}k{self.k}_f32_{types}_by_{self.scales}{more}"


def instruction(one: Instruction, name: str) -> str:
    """Return the device function that issues an instruction; `first` is the byte of the columns where scale
    factors begin.
    """
    per_step = one.how.per_step(STEP * 8 // one.k)
    descriptor = f"0x{scaled_descriptor(one.how, m=one.m, n=one.n, a=one.a, b=one.b):08x}"
    first = ", u32 first" if per_step < DEEP else ""
    chosen = f"{descriptor} | (first << 29) | (first << 4)" if first else descriptor
    shapes = f"d[{one.m}, {one.n}] (+)= a[{one.m}, {one.k}] * b[{one.n}, {one.k}]"
    matrices = [
        f'"l"(matrix_words(0x{high(span):08x}, {x}))'
        for span, x in ((one.a_swizzle, "a"), (one.b_swizzle, "b"))
    ]
    types = one.a if one.a == one.b else f"{one.a} by {one.b}"
    word = f"{descriptor}: M {one.m}, N {one.n}, {types}, factors {one.scales}"
    word += "; bits 29 and 4 say where they begin." if first else "."
    return f"""// {shapes}, scaled by blocks of {one.how.block} of k.
// {word}
// {matrices_text(((one.a_swizzle, False), (one.b_swizzle, False)))}
DEVICE void {name}(u32 d, u32 a, u32 b, u32 scale_a, u32 scale_b{first}, u32 accumulate) {{
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %6, 0;\\n"
               "tcgen05.mma.cta_group::{one.group}.kind::{one.how.kind}"
               " [%0], %1, %2, %3, [%4], [%5], p; }}" ::"r"(d),
               {", ".join(matrices)},
               "r"({chosen}), "r"(scale_a), "r"(scale_b),
               "r"(accumulate)
               : "memory");
}}"""


@dataclass(frozen=True, slots=True)
class Product:
    """A step's product: its instruction, how often along k, and the C++ of its operands at `step`."""

    instruction: Instruction
    steps: int
    d: str
    a: str
    b: str
    scales: str  # of a and of b, and where they begin


def product(
    lowering: Lowering, d: Reference, a: Reference, b: Reference, scale_a: Reference, scale_b: Reference
) -> Product:
    """Plan a scaled product; refuses what no instruction does."""
    if lowering.in_tensor_memory(a):
        lowering.refuse(f"`{a}` in tensor memory with block scales is not generated yet")
    acc, left, right = lowering.tensor_memory(d, "write"), _matrix(lowering, a), _matrix(lowering, b)
    scales = [lowering.tensor_memory(one, "read") for one in (scale_a, scale_b)]
    types = left.buffer.dtype, right.buffer.dtype, scales[0].dtype, scales[1].dtype
    how = scaling(*types)
    if how is None or acc.dtype != "f32":
        lowering.refuse(
            f"no `tcgen05_mma` makes `{acc.dtype}` of `{types[0]}` and `{types[1]}` scaled by `{types[2]}` "
            f"and `{types[3]}`"
        )
    bits = right.buffer.bits
    steps, per_step = right.k * bits // 8 // STEP, how.per_step(bits)
    columns = lowering.group * right.extent  # each CTA of a pair has the factors of all of them
    wanted = [extent // ROWS * -(-steps * per_step // DEEP) for extent in (left.extent, columns)]
    if (left.extent, columns) != acc.shape or left.k != right.k or right.k * bits // 8 % STEP:
        lowering.refuse(f"`{a}` and `{b}` do not fit `{acc.text}`")
    if left.extent != ROWS or columns not in (ROWS, 2 * ROWS):
        lowering.refuse(f"block scales are generated for {ROWS} rows, and {ROWS} or {2 * ROWS} columns")
    for one, blocks in zip(scales, wanted, strict=True):
        if one.columns != COLUMNS * blocks:
            lowering.refuse(f"`{one.text}` has {one.columns} columns, and its scales take {COLUMNS * blocks}")
    plan = Instruction(
        how,
        columns,
        STEP * 8 // bits,
        types[0],
        types[1],
        types[2],
        left.buffer.swizzle,
        right.buffer.swizzle,
        lowering.group,
    )
    places = [
        _columns(lowering, one, hint, steps, per_step, extent // ROWS)
        for one, hint, extent in zip(
            scales, ("scale_left", "scale_right"), (left.extent, columns), strict=True
        )
    ]
    if per_step < DEEP:
        each = DEEP // per_step
        places.append("0" if steps == 1 else f"step % {each}" + (f" * {per_step}" if per_step > 1 else ""))
    return Product(
        plan,
        steps,
        _named(lowering, "sum", acc.address),
        _moved(lowering, left, "left", steps),
        _moved(lowering, right, "right", steps),
        ", ".join(places),
    )


def _named(lowering: Lowering, hint: str, text: str) -> str:
    return text if text.isidentifier() else lowering.named("u32", hint, text)


def _matrix(lowering: Lowering, reference: Reference) -> Matrix:
    buffer: BufferOperand = lowering.buffer(reference, "read")
    if len(buffer.shape) != 2 or not buffer.swizzle or buffer.transposed:
        lowering.refuse(
            f"`{reference}` is no swizzled matrix with rows along k, and scaled ones are generated of such"
        )
    return Matrix(buffer, reference, mn=False)


def _moved(lowering: Lowering, matrix: Matrix, hint: str, steps: int) -> str:
    name = _named(lowering, hint, lowering.matrix_words(matrix.buffer, matrix.reference, low(matrix)))
    return name if steps == 1 else f"{name} + {matrix.step()}"


def _columns(
    lowering: Lowering, scales: TensorMemoryOperand, hint: str, steps: int, per_step: int, rows: int
) -> str:
    """Return the C++ of the columns of a step: those of all rows side by side, then the next block of k."""
    name = _named(lowering, hint, scales.address)
    if steps * per_step <= DEEP:
        return name
    each = DEEP // per_step
    block = "step" if each == 1 else f"step / {each}"
    return f"{name} + {block} * {COLUMNS * rows}"


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of blocks into tensor memory: C++ of the first one's places, and how many of rows and of k."""

    to: str
    source: str
    rows: int
    deep: int


def copies(lowering: Lowering, to: Reference, source: Reference) -> Copies:
    """Plan the copy of scale factors; refuses what is not made of whole blocks."""
    there, here = lowering.tensor_memory(to, "write"), lowering.buffer(source, "read")
    found = blocks_of(here.shape, here.bits)
    if found is None or here.swizzle or there.dtype != here.dtype:
        lowering.refuse(f"`{source}` is not made of blocks of {BYTES} bytes that `{to}` could hold")
    rows, deep = found
    if there.columns != COLUMNS * rows * deep or there.shape[0] != LANES:
        lowering.refuse(f"`{to}` has {there.columns} columns, and {rows * deep} blocks take {COLUMNS} each")
    words = lowering.matrix_words(here, source, 0)
    return Copies(_named(lowering, "columns", there.address), _named(lowering, "blocks", words), rows, deep)
