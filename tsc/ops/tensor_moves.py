"""Fragments from and to tensor memory: which instructions move a part, and their text.

Sources: PTX ISA, tcgen05.ld and tcgen05.st (.32x32b: thread i of a warp has lane i, register j is column j;
.16x256b: 8 columns of 16 lanes, laid out as wgmma's accumulators are), and tcgen05.mma, data path layout
organisation (D: 128 rows, each in its lane; F: 64 rows, 16 of them in the first lanes of each warp's 32).
A warp reaches the 32 lanes of its place in the warpgroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from tsc.expr import Expr
from tsc.model import Reference
from tsc.ops.lowering import BufferOperand, FragmentOperand, Lowering
from tsc.ops.parts import part_of

MOST = 128  # registers of a thread that one instruction moves
MATRIX = 4  # registers of a thread for 8 columns of .16x256b
# How a word of a fragment is declared, the letter of its constraint, and what is a register of it.
WORDS = {"f32": ("float", "f", ""), "i32": ("int", "r", ""), "tf32": ("tf32", "r", ".bits")}

TEMPLATE = """
{% for piece in pieces %}
{{ piece.name }}({{ fragment }}.words{{ " + %d" % piece.word if piece.word }}, {{ tensor }}{{
" + %d" % piece.column if piece.column }});
{% endfor %}
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """One instruction: its device function, the first word of the fragment, and the column."""

    name: str
    word: int
    column: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One tcgen05.ld or tcgen05.st of so many registers a thread, which hold elements of a dtype."""

    verb: Literal["ld", "st"]
    registers: int
    dtype: str
    lanes: bool  # a row a thread, else 16 lanes as a matrix

    @property
    def name(self) -> str:
        """What the wrapper is called."""
        what = "load" if self.verb == "ld" else "store"
        shape = "" if self.lanes else "_16x256b"
        kind = "" if self.dtype == "f32" else f"_{WORDS[self.dtype][0]}" if self.dtype in WORDS else "_u32"
        return f"tensor_{what}{shape}_x{self.number}{kind}"

    @property
    def number(self) -> int:
        """How often its shape is repeated along the columns."""
        return self.registers if self.lanes else self.registers // MATRIX


def instruction(one: Instruction, name: str) -> str:
    """Return the device function that issues an instruction."""
    type_, letter, member = WORDS.get(one.dtype, ("u32", "r", ""))
    loads = one.verb == "ld"
    numbers = range(one.registers)
    shape = f"{'32x32b' if one.lanes else '16x256b'}.x{one.number}"
    begin = 0 if loads else 1
    listed = _lines([f"%{begin + i}" for i in numbers], '      "', ',"', '"')
    own = _lines([f'"{"=" if loads else ""}{letter}"(r[{i}]{member})' for i in numbers], "        ", ",", "")
    place = f"%{one.registers}" if loads else "%0"
    registers = f'{{"\n{listed}\n      "}}'
    operands = f"{registers}, [{place}]" if loads else f"[{place}], {registers}"
    outputs = own.lstrip() if loads else ""
    inputs = '"r"(tensor)' if loads else f'"r"(tensor),\n{own}'
    const = "" if loads else "const "
    columns = one.registers if one.lanes else 2 * one.registers
    where = "the warp's lanes" if one.lanes else "the first 16 of the warp's lanes"
    comment = f"// {columns} columns of {where}, {'from' if loads else 'into'} tensor memory."
    return f"""{comment}
DEVICE void {name}({const}{type_}* r, u32 tensor) {{
  asm volatile(
      "tcgen05.{one.verb}.sync.aligned.{shape}.b32 {operands};"
      :{" " + outputs if outputs else ""}
      : {inputs});
}}"""


def _lines(items: list[str], indent: str, between: str, end: str) -> str:
    """Fold a list; a line that another one follows ends with `between`."""
    lines, line = [], ""
    for item in items:
        if line and len(indent) + len(line) + len(item) + 4 > 104:
            lines.append(indent + line + between)
            line = ""
        line += (", " if line else "") + item
    return "\n".join([*lines, indent + line + end])


def tensor_move(
    lowering: Lowering,
    verb: Literal["ld", "st"],
    registers: Reference,
    memory: Reference,
    at: Sequence[Expr] | None,
) -> dict[str, Any]:
    """Return the fields of `tcgen05_ld` and `tcgen05_st`: the instructions, and who takes part."""
    step = f"tcgen05_{verb}"
    fragment = lowering.fragment(registers)
    tensor = lowering.tensor_memory(memory, "read" if verb == "ld" else "write")
    if len(tensor.shape) != 2 or memory.transposed:
        lowering.refuse(f"`{memory}` is no matrix with a row in each lane, and `{step}` moves such")
    if tensor.dtype != fragment.dtype:
        lowering.refuse(
            f"`{step}` changes no dtype, and `{fragment.name}` holds `{fragment.dtype}` where `{memory}` "
            f"holds `{tensor.dtype}`; `convert` goes between"
        )
    if not fragment.lanes and (fragment.rows, fragment.bits) != (64, 32):
        lowering.refuse(
            f"64 rows of tensor memory lie in a half of the lanes, and `{step}` of them is generated for "
            "fragments of 64 rows a warpgroup and 32 bits"
        )
    if not fragment.lanes and lowering.group == 2:
        lowering.refuse(
            f"64 rows a CTA of a pair lie in other lanes, and `{step}` of them is not generated yet"
        )
    whole = BufferOperand(str(memory), tensor.dtype, tensor.bits, tensor.shape, 0, False, "", "")
    part = part_of(lowering, whole, fragment, at)
    if part.rows.first or part.rows.to != "0" or part.rows.count != fragment.rows:
        lowering.refuse(
            f"a warp reaches the 32 lanes of its place in the warpgroup, and `{step}` moves all rows of a "
            "warpgroup's share from row 0 on"
        )
    if part.columns.step * tensor.bits % 32:
        lowering.refuse(f"`{step}` begins at whole columns of 32 bits of `{memory}`")
    column = _column(part.columns.to, tensor.bits)
    address = tensor.address if column == "0" else f"{tensor.address} + {column}"
    pieces = tuple(_pieces(lowering, verb, fragment, part.columns.first, part.columns.count))
    hint = f"{memory.name}_{'from' if verb == 'ld' else 'to'}"
    return {
        "fragment": fragment.name,
        "tensor": lowering.named("u32", hint, f"{address} + tensor_lanes()"),
        "pieces": pieces,
        "only": part.only,
    }


def _column(text: str, bits: int) -> str:
    """Return the C++ of a column of 32 bits from that of an element."""
    if text.isdigit():
        return str(int(text) * bits // 32)
    return text if bits == 32 else f"({text}) / {32 // bits}"


def longest(words: int) -> int:
    """Return how many of so many registers a thread the first and longest instruction moves."""
    return min(MOST, 1 << words.bit_length() - 1) if words else 0


def _pieces(
    lowering: Lowering, verb: Literal["ld", "st"], fragment: FragmentOperand, first: int, count: int
) -> Iterator[Piece]:
    """Yield the fewest instructions that move so many columns."""
    if fragment.lanes:
        word, left, columns = first * fragment.bits // 32, count * fragment.bits // 32, 1
    else:
        word, left, columns = first // 2, count // 2, 2
    column = 0
    while left:
        size = longest(left)
        one = Instruction(verb, size, fragment.dtype, fragment.lanes)
        yield Piece(lowering.device(one.name, partial(instruction, one)), word, column)
        word, left, column = word + size, left - size, column + size * columns
