"""Says how to make an input that there is not, in two ways at once, or of values that it cannot have.

What it does
    Checks every entry of `verify.inputs`: it is a tensor param, made in exactly one of the ways `lengths`,
    `range` and `zeros`, with bounds in order and lengths of 0 and more.

Why is this bad
    The case cannot be run on what was meant.

Example
    params:
      count: {dtype: i32, shape: [1]}
    verify:
      inputs: {count: {range: [10, 0]}}

Use instead
    verify:
      inputs: {count: {range: [0, 10]}}
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.document import VerifyInput

RULE = Rule("TSC196", "misfit-input", Severity.ERROR, "an input cannot be made as `verify.inputs` says")

_FLOATS = frozenset(("f32", "f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1"))


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each input that cannot be made."""
    tensors = [name for name in program.params if name in program.tensors]
    for name, how in (program.spec.verify.inputs if program.spec.verify is not None else {}).items():
        route = ("verify", "inputs", name)
        if name not in tensors:
            number = name in program.scalars
            message = f"`{name}` is {'a number, which the cases give' if number else 'no tensor param'}"
            help = "" if number else did_you_mean(name, tensors)
            yield Finding(
                RULE.name, message, Place(route, "key"), help=help or f"the tensors are {listing(tensors)}"
            )
            continue
        yield from _ways(how, route, program.tensors[name].dtype)


def _ways(how: VerifyInput, route: Route, dtype: str) -> Iterator[Finding]:
    ways = [
        way for way, given in (("lengths", how.lengths), ("range", how.range), ("zeros", how.zeros)) if given
    ]
    if len(ways) != 1:
        said = f"{listing(ways)} are" if ways else "nothing is"
        message = f"an input is made in one way, and {said} given"
        yield Finding(
            RULE.name, message, Place(route), help="write one of `lengths`, `range` and `zeros: true`"
        )
    elif how.range is not None:
        low, high = how.range
        if low > high:
            message = f"the range goes from {low:g} down to {high:g}"
            yield Finding(RULE.name, message, Place((*route, "range")), help=f"write `[{high:g}, {low:g}]`")
        elif dtype not in _FLOATS and math.ceil(low) > math.floor(high):
            message = f"there is no integer from {low:g} to {high:g}, and the tensor is {dtype}"
            yield Finding(RULE.name, message, Place((*route, "range")), help="write whole bounds")
    elif how.lengths is not None and min(how.lengths) < 0:
        index = next(index for index, length in enumerate(how.lengths) if length < 0)
        message = f"a length is {how.lengths[index]:,}, and running sums go up"
        yield Finding(RULE.name, message, Place((*route, "lengths", index)), help="write 0 or more")
