"""A number, or the length of a list, is beyond what its key takes.

What it does
    Compares numbers and the lengths of lists with the least and the most that the language or the
    hardware allows, and the `major` dimension with the shape.

Why is this bad
    No kernel can be made from it: a grid has three dimensions, a size is not negative.

Example
    launch: {grid: [m, n, k, 1]}

Use instead
    launch: {grid: [m, n, k]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.arguments import Param

RULE = Rule("TSC020", "out-of-range", Severity.ERROR, "a number or a list beyond what its key takes")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `major` that no dimension of its tensor is."""
    for name, param in program.spec.params.items():
        yield from _major(name, param)


def _major(name: str, param: Param) -> Iterator[Finding]:
    place = Place(("params", name, "major"))
    if param.major is None:
        return
    shape = param.shape or ()
    if not shape:
        yield Finding(
            RULE.name, f"`{name}` has no dimensions, and so no `major` one", place, help="remove `major`"
        )
    elif isinstance(param.major, int) and not 0 <= param.major < len(shape):
        message = f"`major` of `{name}` is {param.major}, and its dimensions are 0 to {len(shape) - 1}"
        yield Finding(RULE.name, message, place)
    elif isinstance(param.major, str) and [extent.text.strip() for extent in shape].count(param.major) != 1:
        extents = ", ".join(extent.text.strip() for extent in shape)
        message = f"`{param.major}` is not one dimension of `{name}`, whose shape is `[{extents}]`"
        yield Finding(RULE.name, message, place, help="give the index of the dimension")
