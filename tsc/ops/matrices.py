"""Matrix products of warpgroups as instructions: shapes, the places of their operands, and the text of one.

Sources: PTX ISA, wgmma.mma_async (shapes, types, operand registers) and "asynchronous warpgroup level matrix
shared memory layout" (K-major and MN-major tiles, their advance along k and along M or N).
"""

from __future__ import annotations

from dataclasses import dataclass

from tsc.expr import Expr
from tsc.model import Reference
from tsc.ops.lowering import BufferOperand, FragmentOperand, Lowering

ROWS = 64  # of an instruction
STEP = 32  # bytes of k of an instruction
UNIT = 16  # bytes in which descriptors count
MOST = 256  # columns of an instruction

# Operand type -> types that may stand beside it, and accumulators.
PAIRS = {
    "bf16": (frozenset(("bf16",)), frozenset(("f32",))),
    "f16": (frozenset(("f16",)), frozenset(("f32", "f16"))),
    "tf32": (frozenset(("tf32",)), frozenset(("f32",))),
    "e4m3": (frozenset(("e4m3", "e5m2")), frozenset(("f32", "f16"))),
    "e5m2": (frozenset(("e4m3", "e5m2")), frozenset(("f32", "f16"))),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One wgmma: `d[64, n] (+)= a[64, k] * b[n, k]`; operands are K-major unless said otherwise."""

    n: int
    k: int
    d: str
    a: str
    b: str
    registers: bool  # whether A comes from registers
    a_mn: bool
    b_mn: bool

    @property
    def name(self) -> str:
        """What the wrapper is called: shape, types, and what is not the usual."""
        more = ("_ra" if self.registers else "_am" if self.a_mn else "") + ("_bn" if self.b_mn else "")
        types = self.a if self.a == self.b else f"{self.a}_{self.b}"
        return f"wgmma_m64n{self.n}k{self.k}_{self.d}_{types}{more}"


def instruction(one: Instruction, name: str) -> str:
    """Return the device function that issues an instruction."""
    words = one.n // 2 if one.d == "f32" else one.n // 4
    kind, letter = ("float", "f") if one.d == "f32" else ("u32", "r")
    left = 4 if one.registers else 1
    listed = _folded([f"%{i}" for i in range(words)], "      \" ", ",\"\n", ",\"")
    a = "{" + ", ".join(f"%{words + i}" for i in range(4)) + "}" if one.registers else f"%{words}"
    last = words + left
    major = ""
    if one.a in ("bf16", "f16"):
        major = f", {int(one.b_mn)}" if one.registers else f", {int(one.a_mn)}, {int(one.b_mn)}"
    outputs = _folded([f"\"+{letter}\"(d[{i}])" for i in range(words)], "        ", ",\n", "")
    inputs = ", ".join(f'"r"(a[{i}])' for i in range(4)) if one.registers else '"l"(a)'
    shape = f"m64n{one.n}k{one.k}.{one.d}.{one.a}.{one.b}"
    where = "registers" if one.registers else "MN-major" if one.a_mn else "K-major"
    other = "MN-major" if one.b_mn else "K-major"
    return f"""// d[64, {one.n}] (+)= a[64, {one.k}] * b[{one.n}, {one.k}]; a {where}, b {other}.
DEVICE void {name}({kind}* d, {"const u32* a" if one.registers else "u64 a"}, u64 b, int accumulate) {{
  asm volatile(
      "{{ .reg .pred p; setp.ne.b32 p, %{last + 1}, 0;\\n"
      "wgmma.mma_async.sync.aligned.{shape} {{"
{listed.removesuffix(',"')}}},"
      " {a}, %{last}, p, 1, 1{major}; }}"
      : {outputs.lstrip()}
      : {inputs}, "l"(b), "r"(accumulate));
}}"""


def accumulates(lowering: Lowering, condition: Expr, steps: int) -> str:
    """Return the C++ of whether an instruction adds to the accumulator: the first of `steps` as the spec
    says, the others always.
    """
    flat = lowering.flat(condition)
    if flat.value is not None:
        return "1" if flat.value else "0" if steps == 1 else "step > 0"
    text = lowering.text(condition)
    if steps == 1:
        return text
    return f"step > 0 || ({text})" if "||" in text or "?" in text or "&&" in text else f"step > 0 || {text}"


def _folded(items: list[str], indent: str, between: str, end: str) -> str:
    lines, line = [], indent
    for i, item in enumerate(items):
        more = item + ("," if i + 1 < len(items) else "")
        if len(line) + len(more) + 3 > 110:
            lines.append(line.rstrip().rstrip(",") + between)
            line = indent
        line += more + " "
    lines.append(line.rstrip() + end)
    return "".join(lines)


@dataclass(frozen=True, slots=True)
class Block:
    """C++ of the operands of one block of 64 rows."""

    d: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Product:
    """A step's product: its instruction, how often along k, and the blocks of rows."""

    instruction: Instruction
    steps: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """An operand in shared memory as `[extent, k]`, whichever of the two is contiguous."""

    buffer: BufferOperand
    reference: Reference
    mn: bool

    @property
    def extent(self) -> int:
        """Rows of A, columns of the product for B."""
        return self.buffer.shape[1] if self.mn else self.buffer.shape[0]

    @property
    def k(self) -> int:
        """Elements along k."""
        return self.buffer.shape[0] if self.mn else self.buffer.shape[1]

    @property
    def atom(self) -> int:
        """Bytes from one column atom to the next."""
        return self.buffer.shape[0] * self.buffer.swizzle

    def along(self, elements: int) -> int:
        """Return the bytes from one place along the extent to another that lies so many elements behind."""
        span = self.buffer.swizzle
        return elements * self.buffer.bits // 8 // span * self.atom if self.mn else elements * span

    def step(self) -> str:
        """Return the C++ of how far the descriptor has moved at `step` of k, in its units."""
        span = self.buffer.swizzle
        if self.mn:
            return f"{STEP * 8 // self.buffer.bits * span // UNIT} * step"
        inside = span // STEP
        if self.k * self.buffer.bits // 8 <= span:
            return f"{STEP // UNIT} * step"
        if inside == 1:
            return f"{self.atom // UNIT} * step"
        return f"step / {inside} * {self.atom // UNIT} + step % {inside} * {STEP // UNIT}"


def product(lowering: Lowering, d: Reference, a: Reference, b: Reference) -> Product:
    """Plan the product of a step; refuses what no instruction does."""
    acc, right = lowering.fragment(d), _matrix(lowering, b)
    left = None if lowering.is_fragment(a) else _matrix(lowering, a)
    held = lowering.fragment(a) if left is None else None
    a_dtype = held.dtype if held is not None else left.buffer.dtype if left is not None else ""
    a_rows = held.shape[0] if held is not None else left.extent if left is not None else 0
    a_k = held.shape[1] if held is not None else left.k if left is not None else 0
    partners, results = PAIRS.get(a_dtype, (frozenset[str](), frozenset[str]()))
    if right.buffer.dtype not in partners or acc.dtype not in results:
        lowering.refuse(f"no `wgmma` makes `{acc.dtype}` of `{a_dtype}` and `{right.buffer.dtype}`")
    if (a_rows, right.extent) != acc.shape or a_k != right.k:
        lowering.refuse(
            f"`{a}` is {a_rows} by {a_k} and `{b}` {right.extent} by {right.k}, "
            f"which makes no {acc.shape[0]} by {acc.shape[1]} of `{acc.name}`"
        )
    bits = right.buffer.bits
    if a_k * bits // 8 % STEP:
        lowering.refuse(f"`wgmma` takes {STEP} bytes of k at a time, and `{b}` has {a_k * bits // 8}")
    if acc.columns > MOST:
        lowering.refuse(f"`wgmma` makes at most {MOST} columns, and here are {acc.columns} of `{acc.name}`")
    for matrix in (left, right):
        if matrix is not None and matrix.mn and bits != 16:
            lowering.refuse(f"`{matrix.reference}` is transposed, which `wgmma` takes of 16-bit types alone")
    if held is not None and (held.bits != 16 or (held.rows, held.split) != (acc.rows, acc.split)):
        lowering.refuse(f"`{a}` does not lie in registers as `wgmma` takes it")
    steps = a_k * bits // 8 // STEP
    by_rows = acc.split == "rows"
    b_text = _descriptor(lowering, right, acc, not by_rows, "b")
    a_text = "" if left is None else _descriptor(lowering, left, acc, by_rows, "a")
    blocks = tuple(
        Block(
            f"{acc.name}.block({i})",
            _registers(held, i, steps) if left is None else _moved(a_text, left, i * ROWS, steps),
            _moved(b_text, right, 0, steps),
        )
        for i in range(acc.rows // ROWS)
    )
    one = Instruction(
        acc.columns,
        STEP * 8 // bits,
        acc.dtype,
        a_dtype,
        right.buffer.dtype,
        left is None,
        left is not None and left.mn,
        right.mn,
    )
    return Product(one, steps, blocks)


def _matrix(lowering: Lowering, reference: Reference) -> Matrix:
    buffer = lowering.buffer(reference, "read")
    if len(buffer.shape) != 2:
        lowering.refuse(f"`{reference}` has {len(buffer.shape)} dimensions, and `wgmma` takes matrices")
    if not buffer.swizzle:
        lowering.refuse(f"`{reference}` is not swizzled, and `wgmma` takes no plain rows")
    return Matrix(buffer, reference, buffer.transposed)


def _descriptor(lowering: Lowering, matrix: Matrix, acc: FragmentOperand, shared_out: bool, hint: str) -> str:
    """Name the descriptor of an operand; where warpgroups share its extent out, of their own part."""
    first = ""
    if shared_out and acc.warpgroups > 1:
        part = acc.rows if acc.split == "rows" else acc.columns
        if matrix.mn and part * matrix.buffer.bits // 8 % matrix.buffer.swizzle:
            lowering.refuse(
                f"a warpgroup's part of `{matrix.reference}` begins inside of a swizzled row of "
                f"{matrix.buffer.swizzle} bytes"
            )
        first = f"{acc.group} * {matrix.along(part)}"
    text = lowering.matrix(matrix.buffer, matrix.reference, first, matrix.atom if matrix.mn else 0)
    return lowering.named("u64", hint, text)


def _moved(text: str, matrix: Matrix, rows: int, steps: int) -> str:
    text += f" + {matrix.along(rows) // UNIT}" if rows else ""
    return text if steps == 1 else f"{text} + {matrix.step()}"


def _registers(held: FragmentOperand | None, block: int, steps: int) -> str:
    name = held.name if held is not None else ""
    return f"{name}.block({block})" + (" + 4 * step" if steps > 1 else "")
