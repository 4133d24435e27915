"""Matrix products of the tensor core of sm_100 as instructions: shapes, where operands lie, the text of one.

Sources: PTX ISA, tcgen05.mma (shapes, kinds) and "canonical layouts" (K-major and MN-major tiles).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tsc.model import Reference
from tsc.ops.descriptors import KINDS, instruction_descriptor, matrix_descriptor
from tsc.ops.lowering import Lowering, TensorMemoryOperand
from tsc.ops.matrices import PAIRS, STEP, UNIT, Matrix

MOST = 256  # columns of an instruction
COLUMN = 4  # bytes of a lane in one column of tensor memory


def rows_of(group: int) -> tuple[int, ...]:
    """Return the rows that each CTA of a group may have."""
    return (64, 128) if group == 1 else (128,)


def grain(rows: int, group: int) -> int:
    """Return what the columns of an instruction are a multiple of, by the rows of each CTA: for pairs what
    every kind takes.
    """
    return 32 if group == 2 else 8 if rows == 64 else 16


@dataclass(frozen=True, slots=True)
class Instruction:
    """One tcgen05.mma: `d[m, n] (+)= a[m, k] * b[n, k]`.

    `a_swizzle` is `None` where A lies in tensor memory; `m` counts the rows of all CTAs of the group.
    """

    m: int
    n: int
    k: int
    d: str
    a: str
    b: str
    a_swizzle: int | None
    b_swizzle: int
    a_mn: bool
    b_mn: bool
    group: int = 1

    @property
    def name(self) -> str:
        """What the wrapper is called: shape, types, and what is not the usual."""
        types = self.a if self.a == self.b else f"{self.a}_{self.b}"
        more = ("_pair" if self.group == 2 else "") + ("_at" if self.a_swizzle is None else "")
        more += ("_am" if self.a_mn else "") + ("_bn" if self.b_mn else "")
        spans = (128 if self.a_swizzle is None else self.a_swizzle, self.b_swizzle)
        more += "" if spans == (128, 128) else f"_s{spans[0]}_{spans[1]}"
        return f"mma_m{self.m}n{self.n}k{self.k}_{self.d}_{types}{more}"

    @property
    def descriptor(self) -> int:
        """Its descriptor."""
        return instruction_descriptor(
            m=self.m, n=self.n, d=self.d, a=self.a, b=self.b, a_mn=self.a_mn, b_mn=self.b_mn
        )


def high(swizzle: int) -> int:
    """Return the upper word of the descriptor of a matrix: the same for all of its parts.

    The stride is that of 8 rows, or of 8 values of k where the matrix is MN-major.
    """
    return matrix_descriptor(address=0, leading=0, stride=8 * swizzle, swizzle=swizzle) >> 32


def matrices_text(matrices: Iterable[tuple[int, bool]]) -> str:
    """Say what the upper words of descriptors of matrices mean, by their swizzles, and whether MN-major."""
    words = dict.fromkeys(
        f"0x{high(span):08x}: swizzle {span} B, {8 * span:,} B from 8 {'of k' if mn else 'rows'} to the next."
        for span, mn in matrices
    )
    return " ".join(words)


def low(matrix: Matrix) -> int:
    """Return the lower word of the descriptor of a matrix at address 0.

    The leading offset leads from one column atom to the next along M or N; K-major, nobody looks at it.
    """
    leading = matrix.atom if matrix.mn else UNIT
    return matrix_descriptor(address=0, leading=leading, stride=0, swizzle=0) & 0xFFFFFFFF


def instruction(one: Instruction, name: str) -> str:
    """Return the device function that issues an instruction; matrices come as lower words."""
    in_tensor = one.a_swizzle is None
    a = "[%1]" if in_tensor else "%1"
    first = '"r"(a)' if in_tensor else f'"l"(matrix_words(0x{high(one.a_swizzle or 0):08x}, a))'
    where = "in tensor memory" if in_tensor else "MN-major" if one.a_mn else "K-major"
    other = "MN-major" if one.b_mn else "K-major"
    types = one.a if one.a == one.b else f"{one.a} by {one.b}"
    spans = [(one.b_swizzle, one.b_mn)]
    spans = spans if in_tensor else [(one.a_swizzle or 0, one.a_mn), *spans]
    return f"""// d[{one.m}, {one.n}] (+)= a[{one.m}, {one.k}] * b[{one.n}, {one.k}]; a {where}, b {other}.
// 0x{one.descriptor:08x}: M {one.m}, N {one.n}, {types}, {one.d}. {matrices_text(spans)}
DEVICE void {name}(u32 d, u32 a, u32 b, u32 accumulate) {{
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %4, 0;\\n"
               "tcgen05.mma.cta_group::{one.group}.kind::{KINDS[one.a]} [%0], {a}, %2, %3, p; }}" ::"r"(d),
               {first}, "l"(matrix_words(0x{high(one.b_swizzle):08x}, b)),
               "r"(0x{one.descriptor:08x}), "r"(accumulate)
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


def product(lowering: Lowering, d: Reference, a: Reference, b: Reference) -> Product:
    """Plan the product of a step; refuses what no instruction does."""
    acc, right = lowering.tensor_memory(d, "write"), _matrix(lowering, b)
    held = lowering.tensor_memory(a, "read") if lowering.in_tensor_memory(a) else None
    left = _matrix(lowering, a) if held is None else None
    a_dtype, bits = (held or right.buffer).dtype if left is None else left.buffer.dtype, right.buffer.bits
    rows, depth = _extents(held, left)
    group = lowering.group
    columns = group * right.extent
    partners, _ = PAIRS.get(a_dtype, (frozenset[str](), frozenset[str]()))
    if right.buffer.dtype not in partners or acc.dtype != "f32":
        lowering.refuse(f"no `tcgen05_mma` makes `{acc.dtype}` of `{a_dtype}` and `{right.buffer.dtype}`")
    if (rows, columns) != acc.shape or depth != right.k:
        lowering.refuse(
            f"`{a}` is {rows} by {depth} and `{b}` {right.extent} by {right.k}, which makes no "
            f"{' by '.join(map(str, acc.shape))} of `{acc.text}`"
        )
    if rows not in rows_of(group) or columns % grain(rows, group) or not 0 < columns <= MOST:
        lowering.refuse(f"no `tcgen05_mma` makes {rows} by {columns}")
    if depth * bits // 8 % STEP:
        lowering.refuse(f"`tcgen05_mma` takes {STEP} bytes of k at a time, and `{b}` has {depth * bits // 8}")
    if held is not None and rows != 128:
        lowering.refuse(f"`{a}` has {rows} rows in tensor memory, and `tcgen05_mma` is generated for 128")
    for matrix in (left, right):
        if matrix is not None and matrix.mn and bits == 32:
            lowering.refuse(f"`{matrix.reference}` is transposed, which is not generated for `tf32`")
    steps = depth * bits // 8 // STEP
    one = Instruction(
        group * rows,
        columns,
        STEP * 8 // bits,
        acc.dtype,
        a_dtype,
        right.buffer.dtype,
        None if left is None else left.buffer.swizzle,
        right.buffer.swizzle,
        left is not None and left.mn,
        right.mn,
        group,
    )
    d_text = _named(lowering, "sum", acc.address)
    if left is None:
        address = _named(lowering, "left", held.address if held is not None else "")
        a_text = address + (f" + {STEP // COLUMN} * step" if steps > 1 else "")
    else:
        a_text = _moved(lowering, left, "left", steps)
    return Product(one, steps, d_text, a_text, _moved(lowering, right, "right", steps))


def _named(lowering: Lowering, hint: str, text: str) -> str:
    return text if text.isidentifier() else lowering.named("u32", hint, text)


def _extents(held: TensorMemoryOperand | None, left: Matrix | None) -> tuple[int, int]:
    if left is not None:
        return left.extent, left.k
    return (held.shape[0], held.shape[1]) if held is not None and len(held.shape) == 2 else (0, 0)


def _matrix(lowering: Lowering, reference: Reference) -> Matrix:
    buffer = lowering.buffer(reference, "read")
    if len(buffer.shape) != 2:
        lowering.refuse(f"`{reference}` has {len(buffer.shape)} dimensions, and `tcgen05_mma` takes matrices")
    if not buffer.swizzle:
        lowering.refuse(f"`{reference}` is not swizzled, and `tcgen05_mma` takes no plain rows")
    return Matrix(buffer, reference, buffer.transposed)


def _moved(lowering: Lowering, matrix: Matrix, hint: str, steps: int) -> str:
    text = lowering.matrix_words(matrix.buffer, matrix.reference, low(matrix))
    name = _named(lowering, hint, text)
    return name if steps == 1 else f"{name} + {matrix.step()}"
