"""Moves a part of a fragment that is not there, or whose place is not known in time.

What it does
    Checks `at` of `stmatrix` and `ldmatrix`. Where the buffer is the smaller it chooses registers: it is
    known when built, a multiple of 64 rows and 8 columns, and the part is in the share of one warpgroup or
    made of whole shares. Where the fragment is the smaller it may be known later.

Why is this bad
    Registers have no addresses: which of them move is written into the instructions.

Example
    - for: BN // 32
      as: j
      body: [{stmatrix: out, from: acc, at: [0, j * 32]}]

Use instead
    - repeat: BN // 32
      as: j
      body: [{stmatrix: out, from: acc, at: [0, j * 32]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr
from tsc.program.fragments import spread
from tsc.program.model import Program
from tsc.rules.matrix.parts import GRAIN, WORDS, MatrixCopy, matrix_copies
from tsc.rules.matrix.products import once_a_place

RULE = Rule(
    "TSC227", "part-outside-fragment", Severity.ERROR, "a part of a fragment is not there, or not known"
)

TOGETHER = 16  # columns that an instruction moves


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each coordinate that is not known, or at which no part begins or ends."""
    yield from once_a_place(it for copy in matrix_copies(program) for it in _judge(program, copy))


def _judge(program: Program, copy: MatrixCopy) -> Iterator[Finding]:
    at, fragment = copy.at, spread(copy.fragment, copy.task)
    if at is None or len(at) != 2 or len(copy.extents) != 2 or fragment is None:
        return  # zeros, or what other rules are about
    shares = (fragment.rows, fragment.columns)
    for axis, coordinate in enumerate(at):
        place = Place((*copy.step.route, "at", axis))
        value = program.values.integer(coordinate, place.route, copy.step.env)
        own, extent, word = copy.extents[axis], copy.shape[axis], WORDS[axis]
        registers, part, whole, share = own < extent, min(own, extent), max(own, extent), shares[axis]
        name = copy.fragment.name if registers else copy.named.text
        given, span = _given(copy, coordinate), f"{word}s {value or 0:,} to {(value or 0) + part - 1:,}"
        grain = GRAIN[axis] if registers else TOGETHER if axis and not copy.named.transposed else 8
        if value is None and registers:
            message = f"`{coordinate.text}` chooses registers of `{name}`, and is not known when built"
            mend = "write `repeat` in place of the loop, or name a constant"
        elif value is None or part % GRAIN[axis]:
            continue
        elif value < 0 or value + part > whole:
            message = f"{span} are moved{given}, and `{name}` has {whole:,}"
            mend = f"begin at {max(0, whole - part):,} or before" if value >= 0 else "begin at 0 or later"
        elif value % grain:
            message = f"the part begins at {word} {value:,} of `{name}`{given}, no multiple of {grain}"
            mend = f"begin at {value // grain * grain:,}"
        elif registers and value // share != (value + part - 1) // share and (value % share or part % share):
            message = f"{span}{given} are parts of several warpgroups' {share:,}"
            mend = f"move {share:,} {word}s or a divisor of it at a time"
        else:
            continue
        yield Finding(RULE.name, message, place, copy.declared, help=mend)


def _given(copy: MatrixCopy, coordinate: Expr) -> str:
    known = {name.text: copy.step.env[name.text] for name in coordinate.names if name.text in copy.step.env}
    return " with " + ", ".join(f"`{name} = {value}`" for name, value in known.items()) if known else ""
