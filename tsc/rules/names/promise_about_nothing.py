"""Promises something about a dim that no shape uses, or what no size can meet.

What it does
    Checks that every entry of `dims` is a dim, which it becomes by its use in the shape of a param, and
    that its bounds leave a size.

Why is this bad
    A promise about another name is not checked by anything, and one that no size meets refuses every
    call.

Example
    params:
      x: {dtype: f32, shape: [n]}
    dims:
      N: {multiple_of: 4}

Use instead
    dims:
      n: {multiple_of: 4}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.program.model import Program

RULE = Rule("TSC111", "promise-about-nothing", Severity.ERROR, "`dims` promises what no size can meet")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each promise that is about no dim or cannot be kept."""
    for name, model in program.spec.dims.items():
        route = ("dims", name)
        if name not in program.dims:
            if name in program.constants:
                continue  # made a constant from outside
            yield Finding(
                RULE.name,
                f"`{name}` is no dim: no param has it in its `shape`",
                Place(route, "key"),
                help=did_you_mean(name, program.dims)
                or "use it in the `shape` of a param, or take the promise away",
            )
            continue
        low, high, step = (
            program.values.integer(getattr(model, k), (*route, k)) for k in ("min", "max", "multiple_of")
        )
        if step is not None and step < 1:
            yield Finding(
                RULE.name,
                f"`multiple_of` is {step:,}, and a size is a multiple of 1 or more",
                Place((*route, "multiple_of")),
                help="write a positive number",
            )
        elif high is not None and (low or 0) > high:
            yield Finding(
                RULE.name,
                f"`{name}` is at least {low or 0:,} and at most {high:,}, which no size is",
                Place(route),
                help="exchange the two bounds" if low else "write a bound of 0 or more",
            )
        elif high is not None and step is not None and high // step * step < (low or 0):
            yield Finding(
                RULE.name,
                f"no multiple of {step:,} lies between {low or 0:,} and {high:,}, the bounds of `{name}`",
                Place(route),
                help=f"write `max: {-(-(low or 0) // step) * step}`, or another `multiple_of`",
            )
