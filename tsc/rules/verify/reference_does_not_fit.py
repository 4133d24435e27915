"""Joins in a reference what has shapes that do not fit.

What it does
    Works the shape of every reference out: for all sizes where that is possible, and for the sizes of each
    of `verify.cases`. Operands fit as in NumPy, and the result fits its output.

Why is this bad
    The reference has no value, or is not the shape of what it is compared with.

Example
    params:
      a: {dtype: bf16, shape: [m, k]}
      b: {dtype: bf16, shape: [n, k]}
      d: {dtype: bf16, shape: [m, n]}
    verify:
      reference: {d: a @ b}
      cases: [{m: 128, n: 256, k: 64}]

Use instead
    verify:
      reference: {d: a @ b.T}
      cases: [{m: 128, n: 256, k: 64}]
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import parse, show
from tsc.notation import Node, ShapeError, Shapes, shape_of
from tsc.program.model import Program
from tsc.rules.verify.facts import names_known, outputs, readable, same_extent, sizes_of

RULE = Rule("TSC193", "reference-does-not-fit", Severity.ERROR, "shapes in a reference do not fit")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference with a misfit, the first one of it."""
    shapes = {
        name: program.tensors[name].shape if name in program.tensors else () for name in names_known(program)
    }
    every = Shapes(shapes, parse(1), partial(same_extent, program), show)
    for output, tree in readable(program):
        try:
            shape_of(tree, every)
        except ShapeError as error:
            yield _finding(output, error.message, (error.start, error.end), error.help)
        else:
            yield from _in_cases(program, output, tree)


def _in_cases(program: Program, output: str, tree: Node) -> Iterator[Finding]:
    cases = program.spec.verify.cases if program.spec.verify is not None else ()
    for number, case in enumerate(cases, 1):
        sizes = sizes_of(program, case)
        if sizes is None:
            continue
        try:
            shape = shape_of(tree, Shapes(sizes, 1, operator.eq))
        except ShapeError as error:
            message = f"{error.message} in case {number}"
            yield _finding(output, message, (error.start, error.end), error.help)
            return
        if shape is not None and output in outputs(program) and not _fits(shape, sizes[output]):
            message = (
                f"the reference is {list(shape)} in case {number}, and `{output}` is {list(sizes[output])}"
            )
            yield _finding(output, message, None, f"write what has the shape of `{output}`")
            return


def _fits(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if [extent for extent in given if extent != 1] == [extent for extent in wanted if extent != 1]:
        return True
    pairs = zip(reversed(given), reversed(wanted), strict=False)
    return len(given) <= len(wanted) and all(one in (1, other) for one, other in pairs)


def _finding(output: str, message: str, within: tuple[int, int] | None, help: str) -> Finding:
    return Finding(RULE.name, message, Place(("verify", "reference", output), within=within), help=help)
