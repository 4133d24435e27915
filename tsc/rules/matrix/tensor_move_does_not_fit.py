"""Moves a fragment from or to tensor memory that is not of its rows, its dtype or its columns.

What it does
    Checks `tcgen05_ld` and `tcgen05_st`: both sides have rows and columns of one dtype, a warpgroup's share
    has all rows, and the narrower side lies inside the wider one, at a place that is known when built where
    it chooses registers.

Why is this bad
    A warp reaches the 32 lanes of tensor memory that belong to its place in the warpgroup, and the
    instruction moves bits: dtypes change by `convert`.

Example
    acc: {kind: tmem, stages: 2, dtype: f32, shape: [128, 256]}
    half: {kind: registers, dtype: bf16, shape: [128, 32]}
    - {tcgen05_ld: half, from: acc, at: [0, j * 32]}

Use instead
    slice: {kind: registers, dtype: f32, shape: [128, 32]}
    - {tcgen05_ld: slice, from: acc, at: [0, j * 32]}
    - {convert: half, from: slice}
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.fragments import COLUMNS, LANES
from tsc.program.model import Program
from tsc.rules.matrix.products import once, once_a_place
from tsc.rules.matrix.tensor_moves import TensorMove, tensor_moves
from tsc.rules.matrix.tensor_products import tensor_products

RULE = Rule(
    "TSC241", "tensor-move-does-not-fit", Severity.ERROR, "tensor memory and a fragment do not fit together"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each move whose sides do not fit."""
    moves = tuple(tensor_moves(program))
    # What dtype an accumulator cannot have is said of its product.
    wrong = {it.to.name for it in tensor_products(program) if it.to.dtype != "f32"}
    yield from once(
        _said(move, it) for move in moves for it in (*_form(move, wrong), *_columns(program, move))
    )
    yield from once_a_place(_said(move, it) for move in moves for it in _rows(program, move))


def _said(move: TensorMove, misfit: tuple[str, str]) -> Finding:
    return Finding(RULE.name, misfit[0], move.place, move.declared, help=misfit[1])


def _form(move: TensorMove, wrong: Collection[str]) -> Iterator[tuple[str, str]]:
    own, text, rows, groups = move.fragment, move.named.text, move.buffer.shape[0], move.groups
    if move.named.transposed or len(move.buffer.shape) != 2:
        yield f"`{move.step.verb}` moves rows in lanes, and `{text}` has none", "name a matrix, without `.T`"
    if move.buffer.dtype != own.dtype and move.buffer.name not in wrong:
        what = f"`{own.name}` is {own.dtype} where `{text}` is {move.buffer.dtype}"
        mend = f"make `{own.name}` {move.buffer.dtype}, and `convert` it"
        yield f"`{move.step.verb}` moves bits as they are, and {what}", mend
    share = move.shape[0] // max(1, groups)
    if groups and rows != share and move.shape[0] % groups == 0:
        each = "each warpgroup" if groups > 1 else "a warpgroup"
        mend = "write `split: columns`" if rows == move.shape[0] else f"make it {rows:,} rows a warpgroup"
        mend = f"give `{text}` {LANES} rows, those of a CTA" if rows > LANES else mend
        yield f"`{text}` has {rows:,} rows, and {each} has {share:,} of `{own.name}`", mend


def _rows(program: Program, move: TensorMove) -> Iterator[tuple[str, str]]:
    at, rows, has = move.at, move.shape[0], move.buffer.shape[0]
    if at is None or len(at) != 2 or len(move.buffer.shape) != 2 or rows > has:
        return
    first, column = (
        program.values.integer(one, (*move.step.route, "at", i), move.step.env) for i, one in enumerate(at)
    )
    if first is not None and (first < 0 or first + rows > has):
        message = f"rows {first:,} to {first + rows - 1:,} are moved, and `{move.named.text}` has {has:,}"
        swapped = column == 0 and rows == has
        yield message, f"write `at: [0, {at[0].text}]`, rows first" if swapped else "begin at row 0"


def _columns(program: Program, move: TensorMove) -> Iterator[tuple[str, str]]:
    at, own, text = move.at, move.fragment.name, move.named.text
    if at is None or len(at) != 2 or len(move.buffer.shape) != 2:
        return
    part, whole = sorted((move.shape[1], move.buffer.shape[1]))
    registers = move.shape[1] > move.buffer.shape[1]
    value = program.values.integer(at[1], (*move.step.route, "at", 1), move.step.env)
    if value is None and registers:
        message = f"`{at[1].text}` chooses registers of `{own}`, and is not known when built"
        yield message, "write `repeat` in place of the loop, or name a constant"
    elif value is not None and (value < 0 or value + part > whole):
        message = f"columns {value:,} to {value + part - 1:,} are moved, and `{own if registers else text}`"
        yield f"{message} has {whole:,}", f"begin at {max(0, whole - part):,} or before, and not below 0"
    elif value is not None and registers and (value % COLUMNS or part % COLUMNS):
        message = f"columns of `{own}` move by {COLUMNS}, and {part:,} from {value:,} on are none such"
        yield message, f"begin at a multiple of {COLUMNS}"
