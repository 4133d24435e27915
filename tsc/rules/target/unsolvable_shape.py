"""Writes an extent of a param from which no dim can be found.

What it does
    Checks that each extent of a param is a build-time value, a dim, or `dim + c`, `dim * c`, `dim // c`,
    or that the dims in it are found from other extents.

Why is this bad
    The loader reads dims off the arguments, and has to know each of them exactly.

Example
    params: {x: {dtype: bf16, shape: [m * n]}}

Use instead
    params: {x: {dtype: bf16, shape: [m, n]}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr.tree import Binary, Int, Node, Ref
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.wording import series

RULE = Rule("TSC531", "unsolvable-shape", Severity.ERROR, "a dim cannot be found from the arguments")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each extent with dims that no extent determines, where they are used first."""
    solved: set[str] = set()
    for tensor in program.tensors.values():
        if not tensor.workspace:
            solved |= {name for extent in tensor.shape if (name := solvable(extent.tree)) is not None}
    unknown: dict[Route, list[str]] = {}
    for name, dim in program.dims.items():
        if name not in solved and name not in program.constants:
            unknown.setdefault(dim.uses[0], []).append(name)
    for route, names in unknown.items():
        one = names[0]
        yield Finding(
            RULE.name,
            f"no argument tells what {series(names)} {'is' if len(names) == 1 else 'are'}: "
            "a dim stands alone, or with one constant, in an extent of some param",
            Place(route),
            help=f"use `{one}`, `{one} + c`, `{one} * c` or `{one} // c` as an extent of some param",
        )


def solvable(tree: Node) -> str | None:
    """Return the dim that an extent of this form determines."""
    if isinstance(tree, Ref):
        return tree.name
    if isinstance(tree, Binary):
        left, right = tree.left, tree.right
        if isinstance(left, Ref) and isinstance(right, Int) and tree.op in ("+", "-", "*", "//"):
            return left.name if tree.op in ("+", "-") or right.value > 0 else None
        if isinstance(right, Ref) and isinstance(left, Int) and tree.op in ("+", "*"):
            return right.name if tree.op == "+" or left.value > 0 else None
    return None
